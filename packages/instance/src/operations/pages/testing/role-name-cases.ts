/**
 * Roles and names as HTML-AAM, WAI-ARIA and AccName give them, one case a line: role, name, HTML. The element has the
 * attribute `t`; `~` makes ids unique. In an outline, `img` is `image`.
 */
const table = `
button|Save|<button t>Save</button>
button|Save|<input t type=button value=Save>
button|Submit|<input t type=submit>
button|Go|<input t type=submit value=Go>
button|Reset|<input t type=reset>
button|Find|<input t type=image alt=Find src=data:,>
button|Title|<button t title=Title></button>
button|Label|<button t aria-label=Label>Text</button>
button|Other|<span id=~a>Other</span><button t aria-labelledby=~a>Text</button>
button|One Two|<span id=~a>One</span><span id=~b>Two</span><button t aria-labelledby="~a ~b">x</button>
button|Self Text|<button t id=~a aria-label=Self aria-labelledby="~a ~b">x</button><span id=~b>Text</span>
button|Hidden|<span id=~a hidden>Hidden</span><button t aria-labelledby=~a>x</button>
button|Alt text|<button t><img alt="Alt text" src=data:,></button>
button|Alt more|<button t><img alt=Alt src=data:,> more</button>
button|Inner|<button t><span aria-label=Inner>x</span></button>
button|Shown|<button t><span aria-hidden=true>no</span>Shown</button>
button|Shown|<button t><span style="display:none">no</span>Shown</button>
button|Shown|<button t><span style="visibility:hidden">no</span>Shown</button>
button|A B|<button t>A<div>B</div></button>
button|A B|<button t>A <br>B</button>
button|A B C|<button t><span style="display:block">A</span><span style="display:block">B</span>C</button>
button|One two|<button t><span style="display:inline-block">One</span><span style="display:inline-block">two</span></button>
button|before text|<style>#~a::before{content:"before "}</style><button t id=~a>text</button>
button|text after|<style>#~a::after{content:" after"}</style><button t id=~a>text</button>
button|Menu|<div t role=button tabindex=0>Menu</div>
button|Menu|<div t role="nothing button" tabindex=0>Menu</div>
button|Menu|<div t role=BUTTON tabindex=0>Menu</div>
button|Menu|<button t role=none>Menu</button>
button|Toggle|<button t aria-pressed=true>Toggle</button>
button|More|<details><summary t>More</summary>Body</details>
button|Close dialog|<button t><svg width=9 height=9><title>Close dialog</title><path d="M0 0h9v9z"/></svg></button>
button|Named|<label for=~a>Named</label><button t id=~a style="width:40px;height:20px"></button>
button|Named|<label>Named <button t style="width:40px;height:20px"></button></label>
button|SHOUT|<button t style="text-transform:uppercase">shout</button>
button|One two|<button t>  One   two </button>
button|A B C|<button t style="display:flex"><i>A</i>B<b>C</b></button>
button|AB|<button t><i>A</i><b>B</b></button>
button|Off|<button t disabled>Off</button>
button|Save all|<button t><svg width=9 height=9 aria-hidden=true><path d="M0 0h9v9z"/></svg>Save <b>all</b></button>
button|Close|<button t aria-label=" Close "><i>x</i></button>
button|In a label|<label>In a label <button t style="width:40px;height:20px"></button></label>
button|Drawn Text|<button t><svg width=9 height=9><g><title>Drawn</title><path d="M0 0h9v9z"/></g></svg> Text</button>
button|Two lines|<button t><div style="display:contents"><div style="display:contents">Two</div></div> lines</button>
button|Contents|<button t style="display:contents">Contents</button>
button|Part|<button t popovertarget=~a>Part</button><div id=~a popover>x</div>
button|Not hidden|<div style="visibility:hidden"><button t style="visibility:visible">Not hidden</button></div>
button|One Two Three|<i id=~a>One</i><i id=~b>Two</i><i id=~c>Three</i><button t aria-labelledby="~a ~b ~c">x</button>
button|Twice Twice|<i id=~a>Twice</i><button t aria-labelledby="~a ~a">x</button>
button|A B C D E F G H I J K L|<p><i id=~a>A</i><i id=~b>B</i><i id=~c>C</i><i id=~d>D</i><i id=~e>E</i><i id=~f>F</i><i id=~g>G</i><i id=~h>H</i><i id=~i>I</i><i id=~j>J</i><i id=~k>K</i><i id=~l>L</i></p><button t aria-labelledby="~a ~b ~c ~d ~e ~f ~g ~h ~i ~j ~k ~l">x</button>
button|Close|<img t role=button alt=Close src=data:,>
button|Close|<img t role=button tabindex=0 alt=Close src=data:,>
button|Quit|<i id=~a>Quit</i><img t role=button tabindex=0 alt="" aria-labelledby=~a width=9 height=9 src=data:,>
button|Quit|<img t role=button tabindex=0 alt="" aria-label=Quit width=9 height=9 src=data:,>
button|Shown|<button t><span aria-hidden=1>no</span>Shown</button>
button|Shown|<button t><span aria-hidden=TRUE>no</span>Shown</button>
button|Also shown|<button t><span aria-hidden=false>Also</span> shown</button>
button|Also shown|<button t><span aria-hidden>Also</span> shown</button>
button|Text|<button t aria-label=" ">Text</button>
link|Home|<img t role=link alt=Home src=data:,>
link|Script|<a t onclick="this.title=1">Script</a>
link|Titled|<a t href="/h" title=Other>Titled</a>
link|Picture and text|<a t href="/h"><img alt=Picture src=data:,><span> and text</span></a>
link|Inner label text|<a t href="/h"><b aria-label="Inner label">x</b> text</a>
link|ab|<a t href="/h">a<span style="display:none">hidden</span>b</a>
link|Home|<a t href="/h">Home</a>
link|Logo|<a t href="/h"><img alt=Logo src=data:,></a>
link|Label|<a t href="/h" aria-label=Label>x</a>
link|Title|<a t href="/h" title=Title><img alt="" src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"></a>
link|Go|<span t role=link tabindex=0>Go</span>
link|Image text|<a t href="/h"><img alt=Image src=data:,>text</a>
link|Note|<a t role=doc-noteref href="#n">Note</a>
link|Ref|<a t role=doc-biblioref href="#n">Ref</a>
textbox|Name|<label>Name <input t></label>
textbox|Name|<label for=~a>Name</label><input t id=~a>
textbox|One Two|<label for=~a>One</label><label for=~a>Two</label><input t id=~a>
textbox|Mail|<input t type=email aria-label=Mail>
textbox|Phone|<input t type=tel aria-label=Phone>
textbox|Site|<input t type=url aria-label=Site>
textbox|Secret|<input t type=password aria-label=Secret>
textbox|Hint|<input t placeholder=Hint>
textbox|Title|<input t title=Title>
textbox|Title|<input t title=Title placeholder=Hint>
textbox|Label|<input t aria-label=Label placeholder=Hint title=Title>
textbox|Placed|<input t aria-placeholder=Placed>
textbox|Note|<textarea t aria-label=Note></textarea>
textbox|Note|<label>Note <textarea t></textarea></label>
textbox|Rich|<div t role=textbox contenteditable aria-label=Rich>x</div>
textbox|Rich|<div t contenteditable aria-label=Rich>x</div>
textbox|Named by|<p id=~a>Named by</p><div t role=textbox tabindex=0 aria-labelledby=~a>value</div>
textbox|First of two x|<label>First of two <input t> <input aria-label=x></label>
searchbox|Find|<input t type=search aria-label=Find>
searchbox|Find|<div t role=searchbox tabindex=0 aria-label=Find>x</div>
spinbutton|Count|<input t type=number aria-label=Count>
spinbutton|Count|<div t role=spinbutton tabindex=0 aria-valuenow=3 aria-label=Count>3</div>
slider|Volume|<input t type=range aria-label=Volume>
slider|Volume|<div t role=slider tabindex=0 aria-valuenow=3 aria-label=Volume style="width:50px;height:9px"></div>
checkbox|Agree|<label><input t type=checkbox> Agree</label>
checkbox|Agree|<input t type=checkbox id=~a><label for=~a>Agree</label>
checkbox|Agree|<div t role=checkbox aria-checked=true tabindex=0>Agree</div>
checkbox|Flash 3 times|<input t type=checkbox id=~a><label for=~a>Flash <input value=3 size=2> times</label>
checkbox|Flash Two times|<input t type=checkbox id=~a><label for=~a>Flash <select><option>One<option selected>Two</select> times</label>
checkbox|Flash 5 times|<input t type=checkbox id=~a><label for=~a>Flash <span role=slider aria-valuenow=5 tabindex=0>x</span> times</label>
checkbox|Flash five times|<input t type=checkbox id=~a><label for=~a>Flash <span role=slider aria-valuenow=5 aria-valuetext=five tabindex=0>x</span> times</label>
checkbox|Flash typed times|<input t type=checkbox id=~a><label for=~a>Flash <span role=textbox contenteditable>typed</span> times</label>
radio|Red|<label><input t type=radio> Red</label>
radio|Red|<div t role=radio aria-checked=false tabindex=0>Red</div>
switch|Dark|<input t type=checkbox role=switch aria-label=Dark>
switch|Dark|<button t role=switch aria-checked=true>Dark</button>
combobox|Size|<select t aria-label=Size><option>S</select>
combobox|Size|<label>Size <select t><option>S<option>M</select></label>
combobox|Town|<input t list=~l aria-label=Town><datalist id=~l><option>x</datalist>
combobox|Town|<input t role=combobox aria-expanded=false aria-label=Town>
combobox|Town|<button t role=combobox aria-expanded=false aria-label=Town>x</button>
combobox|Town|<div t role=combobox aria-expanded=false tabindex=0 aria-label=Town>x</div>
listbox|Many|<select t multiple aria-label=Many><option>S</select>
listbox|Many|<select t size=3 aria-label=Many><option>S</select>
listbox|Many|<ul t role=listbox aria-label=Many><li role=option>S</ul>
option|Red|<ul role=listbox aria-label=x><li t role=option>Red</ul>
option|Red|<ul role=listbox aria-label=x><li t role=option aria-label=Red>y</ul>
menuitem|Cut|<ul role=menu><li t role=menuitem>Cut</ul>
menuitemcheckbox|Wrap|<ul role=menu><li t role=menuitemcheckbox aria-checked=true>Wrap</ul>
menuitemradio|Left|<ul role=menu><li t role=menuitemradio aria-checked=true>Left</ul>
tab|General|<div role=tablist><button t role=tab aria-selected=true>General</button></div>
tab|General|<div role=tablist><div t role=tab tabindex=0>General</div></div>
treeitem|Docs|<ul role=tree aria-label=x><li t role=treeitem>Docs</ul>
treeitem|Docs|<ul role=tree aria-label=x><li t role=treeitem aria-expanded=true>Docs<ul role=group><li role=treeitem>inner</ul></ul>
separator|Split|<div t role=separator tabindex=0 aria-valuenow=3 aria-label=Split style="width:9px;height:9px"></div>
scrollbar|Bar|<div t role=scrollbar tabindex=0 aria-valuenow=3 aria-controls=~a aria-label=Bar style="width:9px;height:9px"></div>
heading|Title|<h1 t>Title</h1>
heading|Title|<h6 t>Title</h6>
heading|Title|<div t role=heading aria-level=3>Title</div>
heading|Other|<h2 t aria-label=Other>Title</h2>
heading|Part Two|<h3 t>Part<div>Two</div></h3>
tab|Chosen|<div role=tablist><button t role=tab aria-selected=false>Chosen</button></div>
switch|Two words|<span id=~a>Two <b>words</b></span><button t role=switch aria-checked=false aria-labelledby=~a></button>
heading|A B|<h2 t>A <em>B</em></h2>
heading|Pic|<h2 t><img alt=Pic src=data:,></h2>
heading|Kept|<h2 t role=none tabindex=0>Kept</h2>
heading|Kept|<h2 t role=presentation aria-label=Kept>x</h2>
image|Boat|<img t alt=Boat src=data:,>
image|Label|<img t aria-label=Label alt=Boat src=data:,>
image|Title|<img t title=Title src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>">
image|Chart|<svg t role=img aria-label=Chart width=9 height=9><path d="M0 0h9v9z"/></svg>
image|Chart|<svg t role=img width=9 height=9><title>Chart</title><path d="M0 0h9v9z"/></svg>
image|Icon|<div t role=img aria-label=Icon style="width:9px;height:9px"></div>
image|Icon|<span t role=image aria-label=Icon>x</span>
image|Cover|<img t role=doc-cover alt=Cover src=data:,>
image|Quiet|<i id=~a>Quiet</i><img t alt="" aria-labelledby=~a width=9 height=9 src=data:,>
image|Quiet|<img t alt="" aria-label=Quiet width=9 height=9 src=data:,>
image|Caption|<span id=~a>Caption</span><img t aria-labelledby=~a src=data:,>
progressbar|Load|<progress t aria-label=Load value=3 max=9></progress>
progressbar|Load|<label>Load <progress t value=3 max=9></progress></label>
progressbar|Load|<div t role=progressbar aria-valuenow=3 aria-label=Load>x</div>
meter|Fuel|<meter t aria-label=Fuel value=.3></meter>
meter|Fuel|<label for=~a>Fuel</label><meter t id=~a value=.3></meter>
meter|Fuel|<div t role=meter aria-valuenow=3 aria-label=Fuel>x</div>
status|Total|<label for=~a>Total</label><output t id=~a>3</output>
status|State|<div t role=status aria-label=State>x</div>
alert|State|<div t role=alert aria-label=State>x</div>
log|State|<div t role=log aria-label=State>x</div>
dialog|Terms|<dialog t open aria-label=Terms style="position:static">x</dialog>
dialog|Terms|<div t role=dialog aria-label=Terms>x</div>
dialog|Terms|<div t role=dialog aria-labelledby=~a><h2 id=~a>Terms</h2></div>
alertdialog|Sure|<div t role=alertdialog aria-label=Sure>x</div>
navigation|Main|<nav t aria-label=Main>x</nav>
navigation|Main|<div t role=navigation aria-label=Main>x</div>
navigation|Contents|<div t role=doc-toc aria-label=Contents>x</div>
navigation|Index|<div t role=doc-index aria-label=Index>x</div>
main|Part|<div t role=main aria-label=Part>x</div>
complementary|Side|<aside t aria-label=Side>x</aside>
complementary|Side|<div t role=complementary aria-label=Side>x</div>
banner|Top|<div t role=banner aria-label=Top>x</div>
banner|Top|<header t aria-label=Top>x</header>
contentinfo|End|<div t role=contentinfo aria-label=End>x</div>
contentinfo|End|<footer t aria-label=End>x</footer>
search|Find|<search t aria-label=Find>x</search>
search|Find|<div t role=search aria-label=Find>x</div>
region|Part|<section t aria-label=Part>x</section>
region|Part|<section t aria-labelledby=~a><h2 id=~a>Part</h2></section>
region|Part|<section t title=Part>x</section>
region|Part|<div t role=region aria-label=Part>x</div>
region|Abstract|<div t role=doc-abstract aria-label=Abstract>x</div>
region|Chapter|<div t role=doc-chapter aria-label=Chapter>x</div>
form|Login|<form t aria-label=Login>x</form>
form|Login|<form t title=Login>x</form>
form|Login|<div t role=form aria-label=Login>x</div>
article|Post|<article t aria-label=Post>x</article>
group|Set|<fieldset t><legend>Set</legend>x</fieldset>
group|Set|<fieldset t aria-label=Set>x</fieldset>
group|Set|<div t role=group aria-label=Set>x</div>
group|Set|<details t open aria-label=Set><summary>s</summary>x</details>
radiogroup|Pick|<div t role=radiogroup aria-label=Pick>x</div>
toolbar|Tools|<div t role=toolbar aria-label=Tools>x</div>
menu|Edit|<ul t role=menu aria-label=Edit><li role=menuitem>x</ul>
menubar|Edit|<ul t role=menubar aria-label=Edit><li role=menuitem>x</ul>
tablist|Tabs|<div t role=tablist aria-label=Tabs><button role=tab>x</button></div>
tabpanel|Tab|<div t role=tabpanel aria-label=Tab>x</div>
tree|Files|<ul t role=tree aria-label=Files><li role=treeitem>x</ul>
list|Items|<ul t aria-label=Items><li>x</ul>
list|Items|<ol t aria-label=Items><li>x</ol>
list|Items|<menu t aria-label=Items><li>x</menu>
list|Items|<div t role=list aria-label=Items><div role=listitem>x</div></div>
table|Sums|<table t aria-label=Sums><tr><th>a<td>b</table>
table|Sums|<table t><caption>Sums</caption><tr><th>a<td>b</table>
table|Sums|<table t title=Sums><tr><th>a<td>b</table>
table|Sums|<div t role=table aria-label=Sums><div role=row><div role=cell>a</div></div></div>
grid|Days|<table t role=grid aria-label=Days><tr><td role=gridcell>a</table>
treegrid|Days|<table t role=treegrid aria-label=Days><tr><td role=gridcell>a</table>
row|Row A|<table aria-label=x><tr t aria-label="Row A"><th>a<td>b</table>
gridcell|Monday|<table role=grid aria-label=x><tr><td t role=gridcell tabindex=0 aria-label=Monday>1</table>
gridcell|Monday|<span id=~a>Monday</span><table role=grid aria-label=x><tr><td t role=gridcell tabindex=0 aria-labelledby=~a>1</table>
columnheader|Sunday|<div role=table aria-label=x><div role=row><div t role=columnheader aria-label=Sunday>Su</div></div></div>
rowheader|Total|<div role=table aria-label=x><div role=row><div t role=rowheader aria-label=Total>T</div><div role=cell>1</div></div></div>
cell|Sum|<div role=table aria-label=x><div role=row><div t role=cell aria-label=Sum>1</div></div></div>
`;

export interface RoleNameCase {
  readonly role: string;
  readonly name: string;
  readonly html: string;
}

export const roleNameCases: readonly RoleNameCase[] = table
  .trim()
  .split("\n")
  .map((line, place) => {
    const [role = "", name = "", ...html] = line.split("|");
    return { role, name, html: html.join("|").replaceAll("~", `i${String(place)}`) };
  });
