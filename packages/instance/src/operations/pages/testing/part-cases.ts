import type { SeenCase } from "./seen-cases.ts";

/** Each text is in one line only, and each control in some line. */
export const partCases: readonly SeenCase[] = (
  [
    [
      `<ul role=menu aria-label=M><li role=menuitem aria-haspopup=true aria-expanded=true tabindex=-1>Share<ul role=menu aria-label="Share to"><li role=menuitem tabindex=-1>Mail</ul></ul>`,
      `menu "M"\n  menuitem "Share" [e] [expanded]\n    menu "Share to"\n      menuitem "Mail" [e]`,
    ],
    [
      `<div role=tree><div role=treeitem aria-expanded=true>Src<div role=group aria-label=Kids><div role=treeitem>a.ts</div></div></div></div>`,
      `tree\n  treeitem "Src" [e] [expanded]\n    group "Kids"\n      treeitem "a.ts" [e]`,
    ],
    [
      `<ul role=listbox aria-label=L><li role=option>Iron <div role=group aria-label=Tools><button>Edit</button> now</div></ul>`,
      `listbox "L" [e]\n  option "Iron" [e]\n    group "Tools"\n      button "Edit" [e] now`,
    ],
    [
      `<ul role=listbox aria-label=L tabindex=0><li><div role=option tabindex=-1 aria-selected=true>Slow</div><li><div role=option tabindex=-1>Fast</div></ul>`,
      `listbox "L" [e]\n  option "Slow" [e] [selected]\n  option "Fast" [e]`,
    ],
    [
      `<div role=combobox tabindex=0 aria-label=Size aria-expanded=true>Small<div role=listbox><span tabindex=0 aria-label="Select All"><b>Select All</b></span><input aria-label=Find><div role=option>Small</div><div role=option>Large</div></div></div>`,
      `combobox "Size" [e] [expanded] = "Small"\n  listbox [e]\n    clickable "Select All" [e]\n    textbox "Find" [e]\n    option "Small" [e]\n    option "Large" [e]`,
    ],
    [
      `<ul role=tree><li><a role=treeitem tabindex=-1 aria-expanded=false>Src</a></ul><div role=option>alone</div>`,
      `tree\n  treeitem "Src" [e] [collapsed]\nalone`,
    ],
    [
      `<table><tr><td>R1<td><button>Edit</button><select aria-label=S><option>x</select></table>`,
      `table\n  | R1 | button "Edit" [e] combobox "S" [e] = "x" options "x"`,
    ],
    [
      `<table><tr><td aria-label="Row 1">R1 <input aria-label=N value=5></table>`,
      `table\n  | cell "Row 1" R1 textbox "N" [e] = "5"`,
    ],
    [
      `<button class="btn btn-delete"><i class="fa fa-trash" style="display:inline-block;width:9px;height:9px"></i></button><button><svg width=16 height=16><use href="#icon-edit"/></svg></button><button><img src="/a/cart.svg?x" width=9 height=9></button>`,
      `button [e] (btn-delete)\nbutton [e] (icon-edit)\nbutton [e] (cart)`,
    ],
    [
      `<div onclick="1" style="cursor:pointer" title="Add to cart">+</div><span onclick="1" style="cursor:pointer" aria-label=Stars>★</span>${"<p>text</p>".repeat(20)}`,
      `clickable "+" [e]\nclickable "Stars" [e]\n  ★${"\ntext".repeat(20)}`,
    ],
    [
      `<video controls aria-label=Tour width=99 height=60></video><audio controls title=Song></audio><video width=50 height=50 autoplay muted></video>`,
      `video "Tour" [e] [disabled]\naudio "Song" [e] [disabled]`,
    ],
    [
      `<script>kept = Array.from({ length: 31_000 }, () => document.createElement("i"))</script><details><summary>More</summary>x</details><p style="font-size:1px">Tiny</p>`,
      `button "More" [e] [collapsed]`,
    ],
  ] as const
).map(([html, lines]) => ({ kind: "parts", html, lines: lines.split("\n") }));
