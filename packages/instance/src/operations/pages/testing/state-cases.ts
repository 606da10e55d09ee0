/** Elements whose role, name, states and focus the markup tells, or seems to tell. `~` makes ids unique. */
const cases = `
<button disabled>Off</button><button aria-disabled=true>Off</button>
<button aria-expanded=true>More</button><button aria-expanded=false>More</button><button aria-expanded>More</button>
<a href="#x" aria-expanded=true>More</a><a href="#x" aria-current=page>Here</a>
<button aria-pressed=true>Bold</button><button aria-pressed=false>Bold</button><button aria-pressed=mixed>Bold</button>
<div role=checkbox aria-checked=true tabindex=0>A</div><div role=checkbox aria-checked=mixed tabindex=0>B</div><div role=checkbox>C</div>
<div role=switch aria-checked=true tabindex=0>On</div><div role=switch aria-checked=false tabindex=-1>Off</div>
<div role=radio aria-checked=true tabindex=0>Red</div><div role=radio aria-checked=TRUE tabindex=0>Red</div>
<div role=tablist><button role=tab aria-selected=true>One</button><button role=tab aria-selected=false>Two</button></div>
<div aria-disabled=true><a href="#x">Go</a><span role=button tabindex=0>Run</span><span role=link>Far</span><b>Bold</b></div>
<div aria-disabled=true><h3>Title</h3><div role=switch aria-checked=true tabindex=0>S</div><button>B</button><p>Text</p></div>
<div aria-disabled=true><div aria-disabled=false><a href="#x">Go</a></div><ul><li>Item</li></ul><nav aria-label=N><a href="#y">Y</a></nav></div>
<fieldset disabled><button>No</button><a href="#x">Yes</a><span role=button tabindex=0>Yes</span></fieldset>
<div aria-busy=true><button>Wait</button></div><button aria-busy=true>Wait</button>
<button aria-invalid=true>Wrong</button><div role=checkbox aria-checked=true aria-required=true tabindex=0>Must</div>
<span role=button>No focus</span><span role=link tabindex=0>Focus</span><button tabindex=-1>Focus</button><a>Nothing</a><a tabindex=0>T</a>
<a onclick="this.title=1">Script</a><div onclick="this.title=1">Script</div><h4 onclick="this.title=1">Script</h4>
<img role=button alt=Close src=data:,><img role=link alt=Home tabindex=0 src=data:,><img role=none alt=X src=data:,>
<img alt="" src=data:,><img alt="" role=button src=data:,><img alt="" tabindex=0 src=data:,><img alt="" title=T src=data:,>
<i id=~a>Q</i><img alt="" aria-labelledby=~a src=data:,><img alt="" aria-describedby=~a src=data:,><img alt="" onclick="this.title=1" src=data:,>
<section aria-label="">Text</section><section aria-label=" ">Text</section><section aria-label=S>Text</section><form aria-label="">F</form>
<div role=region>Text</div><div role=region aria-label="">Text</div><div role=region aria-label=R>Text</div>
<table><tr role=none><td>A</td><td>B</td></tr><tr><td>C</td><td>D</td></tr></table>
<table border=1><thead><tr><th>H</th></tr></thead><tbody role=none><tr><td>A</td></tr></tbody></table>
<table border=1><tr><th>H</th><td>D</td></tr><tr><td>E</td><td><table><tr><td>Inner</td></tr></table></td></tr></table>
<table role=none><tr><td>A</td></tr></table><table><tr><td>One cell</td></tr></table>
<h2><span>Chapter</span> <a href="#x">One</a></h2><h3><a href="#x">Only</a></h3>
<nav>Plain</nav><nav aria-label=Named>N</nav><main>M</main><article>A</article><ul><li>A</li><li><b>B</b></li></ul><ol><li>1</li></ol>
<button><i aria-hidden=true>no</i>Yes</button><button><i aria-hidden=false>Also</i> yes</button><button><i inert>x</i> y</button>
<div inert><button>In</button></div><div aria-hidden=true><b>In</b></div><div hidden><button>In</button></div>
<i id=~a>One</i><i id=~b>Two</i><button aria-labelledby="~b ~a">x</button><button aria-labelledby="~a ~a">x</button><button aria-labelledby=~z>x</button>
<p>A <em>b</em> <strong>c</strong> <code>d</code> <mark>e</mark> <del>f</del> <sub>g</sub> <time>h</time> <abbr title=I>i</abbr></p>
<blockquote>Q</blockquote><figure><img alt=P src=data:,><figcaption>C</figcaption></figure><dl><dt>T</dt><dd>D</dd></dl><hr><pre>P</pre>
<svg width=9 height=9><path d="M0 0h9v9z"/></svg><svg width=9 height=9><title>T</title></svg><svg role=img aria-label=S width=9 height=9></svg>
`;

/** No two cases have the same ids. */
export const stateCases: readonly string[] = cases
  .trim()
  .split("\n")
  .map((html, place) => html.replaceAll("~", `s${String(place)}`));
