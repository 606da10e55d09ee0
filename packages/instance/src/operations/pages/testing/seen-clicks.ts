/** Clicks an element by its role and name; the page then has the title. */
export const clicks: readonly (readonly [role: string, name: string, html: string, script?: string])[] = [
  [
    "button",
    "Seat",
    `<svg width=300 height=60><g role=button aria-label=Seat tabindex=0 onclick="document.title='clicked'"><rect x=10 width=20 height=20 /><rect x=200 width=20 height=20 /></g></svg>`,
  ],
  [
    "clickable",
    "Zone",
    `<svg width=300 height=60><rect x=10 width=20 height=20 onclick="document.title='clicked'" style="cursor:pointer"><title>Zone</title></rect></svg>`,
  ],
  [
    "button",
    "Inside",
    `<svg width=300 height=60><foreignObject width=200 height=60><button onclick="document.title='clicked'">Inside</button></foreignObject></svg>`,
  ],
  [
    "link",
    "South",
    `<img usemap="#m" width=200 height=200 alt=R src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"><map name=m><area shape=circle coords="100,150,40" alt=South href="#" onclick="document.title='clicked'"></map>`,
  ],
  [
    "link",
    "Poly",
    `<div style="height:3000px"></div><img usemap="#m" width=200 height=200 alt=R src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"><map name=m><area shape=poly coords="0,0,60,0,0,60" alt=Poly href="#" onclick="document.title='clicked'"></map>`,
  ],
  [
    "button",
    "Pay",
    `<div style="height:9000px"></div><section style="content-visibility:auto"><button onclick="document.title='clicked'">Pay</button></section>`,
  ],
  ["button", "Buy", `<button style="display:contents" onclick="document.title='clicked'"><b>Buy</b></button>`],
  ["button", "Text", `<button style="display:contents" onclick="document.title='clicked'">Text</button>`],
  [
    "combobox",
    "Colour",
    `<div style="position:relative;width:200px;height:32px"><span>Choose</span><input role=combobox aria-label=Colour onmousedown="document.title='clicked'" style="position:absolute;inset:0;width:100%;height:100%;opacity:0"></div>`,
  ],
  [
    "button",
    "Top",
    `<div id=s style="height:100px;overflow:auto"><button onclick="document.title='clicked'">Top</button><div style="height:900px"></div></div>`,
    `s.scrollTop = 9999`,
  ],
  [
    "button",
    "Buy 3",
    `<div style="height:2000px"></div><section id=s style="opacity:0"><button onclick="document.title='clicked'">Buy 3</button></section>`,
    `new IntersectionObserver(([e]) => { if (e.isIntersecting) s.style.opacity = 1; }).observe(s)`,
  ],
  ["button", "Send", `<div aria-hidden=true><input><button onclick="document.title='clicked'">Send</button></div>`],
  [
    "option",
    "Iron",
    `<ul role=listbox><li role=option onclick="document.title='clicked'">Iron <button>favorite</button></ul>`,
  ],
  [
    "option",
    "Slow",
    `<ul role=listbox><li><div role=option tabindex=-1 onclick="document.title='clicked'">Slow</div><li><div role=option tabindex=-1>Fast</div><li><div role=option tabindex=-1>Faster</div></ul>`,
  ],
  [
    "treeitem",
    "Src",
    `<ul role=tree><li role=treeitem aria-label=Src onclick="if (event.target === this || event.target.localName === 'b') document.title='clicked'"><b>Src</b><ul role=group><li role=treeitem>a.ts<li role=treeitem>b.ts<li role=treeitem>c.ts</ul></ul>`,
  ],
  ["button", "می‌خواهم", `<button onclick="document.title='clicked'">می\u200cخواهم</button>`],
  [
    "checkbox",
    "Wifi",
    `<style>body{margin:0} input{position:absolute;width:1px;height:1px;margin:-1px;clip:rect(0,0,0,0);overflow:hidden}</style><label style="position:relative"><input type=checkbox onchange="document.title='clicked'"><span>Wifi</span></label>`,
  ],
  [
    "radio",
    "Far",
    `<input type=radio id=r style="position:absolute;left:-9999px" onchange="document.title='clicked'"><label for=r>Far</label>`,
  ],
  [
    "combobox",
    "Size",
    `<div style="width:200px;height:40px" onmousedown="document.title='clicked'"><input role=combobox aria-label=Size style="pointer-events:none"></div>`,
  ],
  [
    "combobox",
    "Colours",
    `<div style="position:relative;width:200px;height:40px;z-index:0" onmousedown="document.title='clicked'"><input role=combobox aria-label=Colours style="position:absolute;z-index:-1;inset:0;width:100%;height:100%;opacity:0"><div>Red</div></div>`,
  ],
  [
    "textbox",
    "Tags",
    `<label for=t>Tags</label><div style="width:200px;height:36px" onmousedown="document.title='clicked'"><div style="height:22px"><input id=t style="position:absolute;width:1px;height:1px;opacity:0"></div></div>`,
  ],
  [
    "switch",
    "Wifi",
    `<button id=w role=switch aria-labelledby=l onclick="document.title='clicked'" style="position:absolute;width:1px;height:1px;clip:rect(0,0,0,0);overflow:hidden"></button><label id=l for=w>Wifi</label>`,
  ],
  [
    "row",
    "Alpha",
    `<div role=grid aria-label=L onclick="document.title='clicked'"><div role=row aria-label=Alpha draggable=true tabindex=-1><div role=gridcell><button>Drag</button> Alpha</div></div></div>`,
  ],
  [
    "clickable",
    "Photo",
    `<div id=root><div tabindex=0 style="width:100px" onclick="document.title='clicked'">Photo</div></div>`,
    `root.addEventListener("click", () => 1)`,
  ],
];
