// Letters typed before the name field has the focus go there too.
// Not a module, and loaded before the styles: it must listen first.

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
    event.preventDefault(); // or the letter would appear twice
    if (field()) put(early);
    if (entered && document.readyState !== "loading") field().form.requestSubmit();
  });

  document.addEventListener("DOMContentLoaded", () => {
    if (early) put(early);
    else field().select(); // typing replaces a suggested name
    if (entered) field().form.requestSubmit();
  });
})();
