// Libraries of custom elements: Web Awesome, Shoelace, Material Web.
import "@awesome.me/webawesome/dist/styles/webawesome.css";
import "@awesome.me/webawesome/dist/components/select/select.js";
import "@awesome.me/webawesome/dist/components/option/option.js";
import "@awesome.me/webawesome/dist/components/rating/rating.js";
import "@awesome.me/webawesome/dist/components/split-panel/split-panel.js";
import "@awesome.me/webawesome/dist/components/tab-group/tab-group.js";
import "@awesome.me/webawesome/dist/components/tree/tree.js";
import "@awesome.me/webawesome/dist/components/checkbox/checkbox.js";
import "@shoelace-style/shoelace/dist/themes/light.css";
import "@shoelace-style/shoelace/dist/components/select/select.js";
import "@shoelace-style/shoelace/dist/components/option/option.js";
import "@shoelace-style/shoelace/dist/components/input/input.js";
import "@shoelace-style/shoelace/dist/components/dropdown/dropdown.js";
import "@shoelace-style/shoelace/dist/components/menu/menu.js";
import "@shoelace-style/shoelace/dist/components/menu-item/menu-item.js";
import "@shoelace-style/shoelace/dist/components/button/button.js";
import "@shoelace-style/shoelace/dist/components/dialog/dialog.js";
import "@shoelace-style/shoelace/dist/components/range/range.js";
import "@shoelace-style/shoelace/dist/components/color-picker/color-picker.js";
import "@material/web/select/outlined-select.js";
import "@material/web/select/select-option.js";
import "@material/web/textfield/outlined-text-field.js";
import "@material/web/checkbox/checkbox.js";
import "@material/web/switch/switch.js";
import "@material/web/chips/chip-set.js";
import "@material/web/chips/filter-chip.js";
import "@material/web/tabs/tabs.js";
import "@material/web/tabs/primary-tab.js";
import { done, widgetName } from "./show.jsx";

const pages = {
  "wa select": `<wa-select label="Colour" id="it"><wa-option value="red">Red</wa-option><wa-option value="green">Green</wa-option></wa-select>`,
  "wa rating": `<wa-rating label="Stars" id="it"></wa-rating>`,
  "wa split panel": `<wa-split-panel id="it" style="width:600px;height:200px"><div slot="start">Left</div><div slot="end">Right</div></wa-split-panel>`,
  "wa tabs": `<wa-tab-group id="it"><wa-tab panel="a">General</wa-tab><wa-tab panel="b">Advanced</wa-tab><wa-tab-panel name="a">A</wa-tab-panel><wa-tab-panel name="b">B</wa-tab-panel></wa-tab-group>`,
  "wa tree": `<wa-tree id="it"><wa-tree-item>Trees<wa-tree-item>Oak</wa-tree-item></wa-tree-item></wa-tree>`,
  "wa checkbox": `<wa-checkbox id="it">Terms</wa-checkbox>`,
  "sl select": `<sl-select label="Colours" multiple id="it"><sl-option value="red">Red</sl-option><sl-option value="green">Green</sl-option></sl-select>`,
  "sl inputs": `<sl-input label="First"></sl-input><sl-input label="Last" id="it"></sl-input>`,
  "sl dropdown": `<sl-dropdown id="it"><sl-button slot="trigger" caret>Edit</sl-button><sl-menu><sl-menu-item value="cut">Cut</sl-menu-item><sl-menu-item value="paste">Paste</sl-menu-item></sl-menu></sl-dropdown>`,
  "sl dialog": `<sl-button id="open">Rename</sl-button><sl-dialog label="Rename" id="box"><sl-input label="Title" id="it"></sl-input></sl-dialog>`,
  "sl range": `<sl-range label="Volume" min="0" max="10" value="3" id="it" style="width:200px"></sl-range>`,
  "md select": `<md-outlined-select label="Colour" id="it"><md-select-option value="red"><div slot="headline">Red</div></md-select-option><md-select-option value="green"><div slot="headline">Green</div></md-select-option></md-outlined-select>`,
  "md text field": `<md-outlined-text-field label="Name" id="it"></md-outlined-text-field>`,
  "md checkbox": `<label><md-checkbox id="it" touch-target="wrapper"></md-checkbox> Terms</label>`,
  "md switch": `<label>Wifi <md-switch id="it"></md-switch></label>`,
  "md chips": `<md-chip-set><md-filter-chip label="Vegan" id="it"></md-filter-chip><md-filter-chip label="Spicy"></md-filter-chip></md-chip-set>`,
};
const values = {
  "wa split panel": ["wa-reposition", (it) => Math.round(it.position)],
  "wa tabs": ["wa-tab-show", (_, event) => event.detail.name],
  "wa tree": ["wa-selection-change", (_, event) => event.detail.selection[0]?.firstChild.textContent],
  "wa checkbox": ["change", (it) => it.checked],
  "sl select": ["sl-change", (it) => it.value.join()],
  "sl inputs": ["sl-input", (it) => it.value],
  "sl dropdown": ["sl-select", (_, event) => event.detail.item.value],
  "sl dialog": ["sl-input", (it) => it.value],
  "sl range": ["sl-input", (it) => it.value],
  "md checkbox": ["change", (it) => it.checked],
  "md switch": ["change", (it) => it.selected],
  "md text field": ["input", (it) => it.value],
  "md chips": ["click", (it) => new Promise((resolve) => setTimeout(() => resolve(it.selected)))],
};
const root = document.querySelector("#root");
root.innerHTML = pages[widgetName];
const it = root.querySelector("#it");
const [type, read] = values[widgetName] ?? ["change", (element) => element.value];
it.addEventListener(type, async (event) => done(await read(it, event)));
root.querySelector("#open")?.addEventListener("click", () => root.querySelector("#box").show());
