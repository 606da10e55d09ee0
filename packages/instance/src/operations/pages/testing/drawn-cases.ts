import type { SeenCase } from "./seen-cases.ts";

const clipped =
  "position:absolute;width:1px;height:1px;margin:-1px;clip:rect(0,0,0,0);overflow:hidden;border:0;padding:0";

/** Controls that a page hides below what it draws for them, as component libraries do. */
export const drawnCases: readonly SeenCase[] = (
  [
    [
      `<div style="position:relative;width:200px;height:20px"><span style="position:absolute;left:40px;width:20px;height:20px;background:#444;cursor:pointer"><input type=range aria-label=Volume value=30 style="${clipped};width:100%;height:100%"></span></div>`,
      `slider "Volume" [e] = "30"`,
    ],
    [
      `<label id=l>Hue</label><div role=group aria-labelledby=l><div style="width:16px;height:16px;background:#444"><input type=range aria-labelledby=l value=3 style="${clipped};clip-path:inset(50%);opacity:0.0001;pointer-events:none"></div></div>`,
      `Hue\ngroup "Hue"\n  slider "Hue" [e] = "3"`,
    ],
    [
      `<div><button id=t role=switch aria-checked=false aria-labelledby=l style="${clipped}"></button><label id=l for=t><span>Wifi</span> <i aria-hidden=true style="display:inline-block;width:40px;height:20px;background:#ccc"></i></label></div>`,
      `switch "Wifi" [e]`,
    ],
    [
      `<label for=c>Colours</label><div style="width:200px;height:36px;border:1px solid;cursor:pointer"><div style="height:22px"><input id=c readonly style="${clipped};opacity:0"></div></div>`,
      `textbox "Colours" [e] [readonly]`,
    ],
    [
      `<div id=w style="position:relative;width:200px;height:40px;border:1px solid;z-index:0"><input role=combobox aria-label=Colours aria-expanded=false style="position:absolute;z-index:-1;inset:0;width:100%;height:100%;opacity:0"><div>Red</div></div>`,
      `combobox "Colours" [e] [collapsed]\nRed`,
    ],
    [
      `<div style="width:40px;height:20px;background:#ccc;cursor:pointer"><input type=checkbox role=switch aria-label=Wifi style="position:absolute;width:0;height:0;opacity:0;margin:0"></div>`,
      `switch "Wifi" [e]`,
    ],
    [
      `<div id=root><div tabindex=0 style="width:200px">Photo</div></div>`,
      `clickable "Photo" [e]`,
      `root.onclick = () => 1`,
    ],
    [
      `<div style="position:relative;width:320px;height:64px"><i style="float:left;width:70px;height:48px;border:1px solid"></i><i style="float:left;width:70px;height:48px;border:1px solid"></i><input autocomplete="one-time-code" aria-label="Code" style="position:absolute;width:1px;height:1px;opacity:0;pointer-events:none"></div>`,
      `textbox "Code" [e]`,
    ],
    [
      `<div id=a tabindex=0><div tabindex=0 style='cursor:pointer'>Wifi</div><div tabindex=0 style='cursor:pointer'>Pool</div></div>`,
      `clickable "Wifi" [e]\nclickable "Pool" [e]`,
    ],
    // Traps for robots.
    [
      `<form><div style="position:relative;width:200px;height:30px"><input name=website aria-label=Website style="${clipped}"></div><p>Text</p></form>`,
      `Text`,
    ],
    [`<label for=h style="${clipped}">Leave empty</label><input id=h style="${clipped}"><p>Text</p>`, `Text`],
    [
      `<p>Text</p><div style="width:600px;height:300px"><input type=range aria-label=Trap style="${clipped}"></div>`,
      `Text`,
    ],
    // A label whose field is not listed stays a text.
    [`<label for=s>Size</label><select id=s style="display:none"><option>S</select><p>Text</p>`, `Size\nText`],
    [
      `<label><x-box></x-box> Terms</label>`,
      `checkbox "Terms" [e]`,
      `document.querySelector("x-box").attachShadow({mode:"open"}).innerHTML = "<input type=checkbox>"`,
    ],
    [`<span tabindex=0 aria-label=edit>Boat</span>`, `clickable "edit" [e]\n  Boat`],
    [
      `<div role=grid aria-label=Letters onclick=1><div role=row aria-label=Alpha draggable=true tabindex=-1><div role=gridcell><button>Drag</button> Alpha</div></div></div>`,
      `grid "Letters"\n  row "Alpha" [e] [draggable] | button "Drag" [e] Alpha`,
    ],
  ] as const
).map(([html, lines, script]) => ({
  kind: "drawn",
  html,
  lines: lines.split("\n"),
  ...(script !== undefined && { script }),
}));
