// The switch that hands out first where other judges differ. What is handed out is known elsewhere.

import { announce, byId, remember, remembered, show } from "./page.js";

const SWITCH = "rulerank.judges-first";
const button = byId("judges-first");
const why = byId("judges-first-why");
const isThere = button.getAttribute("aria-disabled") === "false"; // another judge has labels here
let isOn = isThere && remembered(SWITCH) === "on";

// What a request for the next document asks for.
export const queue = () => (isOn ? { queue: "judges" } : {});

// Turn the switch; say why not, where it cannot be turned. Return whether it was turned.
export function turnQueue() {
  if (!isThere) {
    show(why);
    announce(why.textContent);
    return false;
  }
  isOn = !isOn;
  remember(SWITCH, isOn ? "on" : "off");
  draw();
  return true;
}

const draw = () => button.setAttribute("aria-pressed", String(isOn));
draw();
