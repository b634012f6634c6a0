// Letters typed before the field of the name has the focus go there all the same: pages are slower than fingers.
// Not a module, and before the styles: it has to listen first.

(() => {
  let early = ""; // typed before there is a field
  let entered = false; // with Enter after it
  const field = () => document.getElementById("rater");

  function put(text) {
    const name = field();
    name.value = text;
    name.focus();
    name.setSelectionRange(text.length, text.length);
  }

  document.addEventListener("keydown", (event) => {
    const nowhere = !document.activeElement || document.activeElement === document.body;
    if (!nowhere || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Enter") entered = early !== "";
    else if (event.key === "Backspace") early = [...early].slice(0, -1).join("");
    else if ([...event.key].length === 1) early += event.key;
    else return;
    event.preventDefault(); // else the letter would be there twice
    if (field()) put(early);
    if (entered && document.readyState !== "loading") field().form.requestSubmit();
  });

  document.addEventListener("DOMContentLoaded", () => {
    if (early) put(early);
    else field().select(); // what is typed replaces a name that is only suggested
    if (entered) field().form.requestSubmit();
  });
})();
