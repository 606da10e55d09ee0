import { people, repeat, sentences, wordsOf } from "./words.ts";

const style = `<style>
  body { font: 15px/1.5 sans-serif; margin: 0; color: #222 } header, main, footer { padding: 12px 24px }
  nav ul { display: flex; gap: 16px; list-style: none; padding: 0 } .grid { display: grid; grid-template-columns: repeat(4, 1fr); gap: 16px }
  .card { border: 1px solid #ddd; padding: 12px; border-radius: 6px } .row { display: flex; gap: 8px; align-items: center }
  .card, .clickable { cursor: pointer } table { border-collapse: collapse; width: 100% } td, th { padding: 4px 8px; border-bottom: 1px solid #eee; text-align: left }
  .icon { width: 16px; height: 16px } .columns { display: grid; grid-template-columns: 220px 1fr; gap: 24px } .muted { color: #777 }
</style>`;
const icon = `<svg class="icon" aria-hidden="true" viewBox="0 0 16 16"><path d="M2 2h12v12H2z"></path></svg>`;

function head(site: string, links: readonly string[]): string {
  const items = links.map(
    (link) => `<li><a href="/${link.toLowerCase().replaceAll(" ", "-")}?from=menu"><span>${link}</span></a></li>`,
  );
  return `<a href="#content" style="position:absolute;left:-9999px">Skip to content</a><header><div class="row"><a href="/"><img src="data:," alt="${site}" width="80" height="24"></a>
    <form role="search" action="/search"><div class="row"><label for="q" style="position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden">Search ${site}</label><input id="q" name="q" placeholder="Search"><button type="submit" aria-label="Search">${icon}</button></div></form></div>
    <nav aria-label="Main"><ul>${items.join("")}</ul></nav></header>`;
}

function foot(site: string): string {
  const links = ["About", "Careers", "Press", "Privacy", "Terms", "Cookies", "Accessibility", "Contact"];
  return `<footer><div class="grid">${links.map((link) => `<div><a href="/${link.toLowerCase()}">${link}</a></div>`).join("")}</div><p class="muted">© 2026 ${site}. ${sentences(3, 1)}</p></footer>`;
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>${style}</head><body>${body}</body></html>`;
}

function framed(site: string, body: string, menu = ["Home", "News", "Prices", "Help", "Sign in"]): string {
  return page(site, `${head(site, menu)}<main id="content">${body}</main>${foot(site)}`);
}

function searchResults(): string {
  const result = (
    place: number,
  ) => `<div class="result"><div><a href="https://site${String(place)}.example/${wordsOf(place, 3).toLowerCase().replaceAll(" ", "/")}?utm_source=search&amp;ref=${"a9".repeat(12)}"><div class="muted"><span>site${String(place)}.example</span> <span>› ${wordsOf(place, 1)}</span></div><h3>${wordsOf(place + 4, 7)}</h3></a></div>
    <div><span class="muted">${String(place + 1)} Nov 2026 — </span>${sentences(place, 2).replace("harbour", "<em>harbour</em>")}</div><div class="row"><a href="/cached/${String(place)}">Cached</a><button aria-label="More about this result" aria-expanded="false">${icon}</button></div></div>`;
  return framed(
    "Seek",
    `<div class="row"><a href="?t=all" aria-current="page">All</a><a href="?t=images">Images</a><a href="?t=news">News</a></div><p class="muted">About 1,240,000 results</p><div>${repeat(10, result)}</div>
    <h2>Related searches</h2><ul>${repeat(8, (place) => `<li><a href="/search?q=${String(place)}">${wordsOf(place + 20, 3)}</a></li>`)}</ul><nav aria-label="Pages">${repeat(10, (place) => `<a href="?start=${String(place * 10)}">${String(place + 1)}</a>`)}<a href="?start=10">Next</a></nav>`,
  );
}

function shopList(): string {
  const product = (
    place: number,
  ) => `<div class="card" data-id="${String(place)}"><a href="/p/${String(place)}"><img src="data:," alt="${wordsOf(place, 3)}" width="150" height="90"></a><div><a href="/p/${String(place)}"><h3>${wordsOf(place, 3)}</h3></a></div>
    <div class="row"><span aria-label="4 of 5 stars">★★★★☆</span><span class="muted">(${String(place * 13)})</span></div><div><span>€${String(place * 3 + 9)}.99</span> <s class="muted">€${String(place * 4 + 19)}.99</s></div><div class="row"><button>Add to basket</button><button aria-label="Save ${wordsOf(place, 3)}" aria-pressed="false">${icon}</button></div></div>`;
  const filter = (name: string, place: number) =>
    `<fieldset><legend>${name}</legend>${repeat(6, (option) => `<div><input type="checkbox" id="f${String(place)}-${String(option)}"><label for="f${String(place)}-${String(option)}">${wordsOf(option + place * 5, 1)} <span class="muted">(${String(option * 4 + 2)})</span></label></div>`)}</fieldset>`;
  return framed(
    "Market",
    `<div class="row"><h1>Kitchen</h1><label>Sort by <select><option>Popular<option>Price, low first<option>Price, high first<option>Newest</select></label></div><div class="columns"><aside>${["Brand", "Colour", "Material"].map(filter).join("")}</aside><div class="grid">${repeat(24, product)}</div></div>`,
  );
}

function product(): string {
  return framed(
    "Market",
    `<div class="columns"><div><img src="data:," alt="Copper kettle, front" width="200" height="200"><div class="row">${repeat(4, (place) => `<button aria-label="Picture ${String(place + 1)}"><img src="data:," alt="" width="40" height="40"></button>`)}</div></div><div><h1>Copper kettle</h1><p>€49.99 <span class="muted">with tax</span></p><p>${sentences(2, 3)}</p>
    <fieldset><legend>Size</legend>${["1 l", "1.5 l", "2 l"].map((size) => `<label><input type="radio" name="size"${size === "1 l" ? " checked" : ""}> ${size}</label>`).join("")}</fieldset><div class="row"><label for="n">Quantity</label><input id="n" type="number" value="1" min="1" max="9"><button>Add to basket</button></div>
    <details><summary>Delivery and returns</summary><p>${sentences(5, 2)}</p></details></div></div><section aria-labelledby="rev"><h2 id="rev">Reviews</h2>${repeat(8, (place) => `<article class="card"><h3>${wordsOf(place, 4)}</h3><div class="row"><span>${people[place % 7] ?? ""}</span><time>${String(place + 1)} Oct 2026</time></div><p>${sentences(place + 8, 3)}</p><button>Helpful (${String(place * 3)})</button></article>`)}</section>`,
  );
}

function article(): string {
  return framed(
    "Daily",
    `<article><h1>${wordsOf(3, 9)}</h1><p class="row"><a href="/authors/ada">Ada Lund</a> <time>21 November 2026</time></p>${repeat(22, (place) => (place % 6 === 5 ? `<h2>${wordsOf(place, 5)}</h2>` : "") + `<p>${sentences(place, 5).replace(/(\w+) (\w+)\. /, '<a href="/topics/$1">$1 $2</a>. ')}</p>`)}<figure><img src="data:," alt="${wordsOf(9, 6)}" width="400" height="200"><figcaption>${sentences(1, 1)}</figcaption></figure></article>
    <aside aria-label="Most read"><ol>${repeat(10, (place) => `<li><a href="/2026/11/${String(place)}/${wordsOf(place, 6).toLowerCase().replaceAll(" ", "-")}">${wordsOf(place + 2, 8)}</a></li>`)}</ol></aside>`,
  );
}

function docs(): string {
  const menu = repeat(
    8,
    (group) =>
      `<li><button aria-expanded="true">${wordsOf(group, 2)}</button><ul>${repeat(6, (place) => `<li><a href="/docs/${String(group)}/${String(place)}"${group === 1 && place === 2 ? ' aria-current="page"' : ""}>${wordsOf(group * 6 + place, 3)}</a></li>`)}</ul></li>`,
  );
  return framed(
    "Kit docs",
    `<div class="columns"><nav aria-label="Docs"><ul style="display:block">${menu}</ul></nav><div><h1>Configuration</h1>${repeat(7, (place) => `<h2 id="s${String(place)}"><a href="#s${String(place)}">${wordsOf(place, 3)}</a></h2><p>${sentences(place, 3).replace(/^(\w+) (\w+)/, "<code>$1.$2()</code>")}</p><pre><code>${repeat(5, (line) => `const ${wordsOf(line, 1).toLowerCase()} = await kit.load("${wordsOf(place + line, 1)}", { retries: ${String(line)} });`)}</code></pre><button aria-label="Copy">${icon}</button><ul>${repeat(4, (item) => `<li><code>${wordsOf(item + place, 1)}</code>: ${sentences(item, 1)}</li>`)}</ul>`)}</div></div>`,
  );
}

function wizard(): string {
  const fields = ["First name", "Last name", "E-mail", "Phone", "Company", "Tax number", "Street", "City", "Postcode"];
  return framed(
    "Apply",
    `<ol>${["Account", "Details", "Review", "Done"].map((step, place) => `<li${place === 1 ? ' aria-current="step"' : ""}><span>${String(place + 1)}</span> <span>${step}</span></li>`).join("")}</ol><h1>Your details</h1><form aria-label="Details"><p class="muted">${sentences(1, 2)}</p>
    ${fields.map((field, place) => `<div><label for="w${String(place)}">${field}<span aria-hidden="true">*</span></label><input id="w${String(place)}" required value="${place < 3 ? wordsOf(place, 1) : ""}"${place === 3 ? ' aria-invalid="true" aria-describedby="e3"' : ""}>${place === 3 ? '<p id="e3" role="alert">Enter a phone number.</p>' : ""}</div>`).join("")}
    <label for="country">Country</label><select id="country">${repeat(60, (place) => `<option${place === 4 ? " selected" : ""}>${wordsOf(place, 2)}</option>`)}</select><fieldset><legend>Contact</legend>${["E-mail", "Phone", "Post"].map((way) => `<label><input type="radio" name="way"> ${way}</label>`).join("")}</fieldset><label><input type="checkbox"> I agree to the <a href="/terms">terms</a></label><label for="note">Note</label><textarea id="note">${sentences(2, 1)}</textarea><div class="row"><button type="button">Back</button><button disabled>Continue</button></div></form>`,
  );
}

function table(): string {
  return framed(
    "Admin",
    `<div class="row"><h1>Users</h1><input type="search" aria-label="Filter users"><button>Invite</button></div><table><caption>Users</caption><thead><tr><th><input type="checkbox" aria-label="Select all"></th>${["Name", "E-mail", "Role", "Last seen"].map((name) => `<th><button>${name}</button></th>`).join("")}<th>Actions</th></tr></thead><tbody>
    ${repeat(200, (place) => `<tr><td><input type="checkbox" aria-label="Select ${people[place % 7] ?? ""} ${String(place)}"></td><td><a href="/users/${String(place)}">${people[place % 7] ?? ""} ${String(place)}</a></td><td>user${String(place)}@example.com</td><td>${place % 9 === 0 ? "Admin" : "Member"}</td><td>${String((place % 28) + 1)} Oct 2026</td><td><button>Edit</button> <button>Remove</button></td></tr>`)}</tbody></table><nav aria-label="Pages">${repeat(5, (place) => `<button>${String(place + 1)}</button>`)}</nav>`,
  );
}

function inbox(): string {
  const mail = (place: number) =>
    `<tr role="row" tabindex="-1" class="clickable"><td role="gridcell"><div role="checkbox" aria-checked="false" aria-label="Select" tabindex="0">${icon}</div></td><td role="gridcell"><span role="button" tabindex="0" aria-label="Not starred">${icon}</span></td><td role="gridcell"><span>${people[place % 7] ?? ""}</span></td><td role="gridcell"><span><b>${wordsOf(place, 5)}</b></span><span class="muted"> - ${sentences(place + 3, 2)}</span></td><td role="gridcell"><span>${String(place + 1)} Nov</span></td></tr>`;
  return page(
    "Inbox",
    `<header class="row"><button aria-label="Main menu" aria-expanded="true">${icon}</button><span>Mail</span><form role="search"><input aria-label="Search mail"></form></header><div class="columns"><nav aria-label="Folders"><div role="button" tabindex="0">Compose</div>${["Inbox", "Starred", "Snoozed", "Sent", "Drafts", "Spam", "Bin"].map((folder, place) => `<div><a href="#${folder.toLowerCase()}"${place === 0 ? ' aria-current="page"' : ""}>${folder}</a><span>${String(place * 4 || 12)}</span></div>`).join("")}</nav><main><div role="toolbar" class="row">${["Archive", "Report spam", "Delete", "Mark as unread", "Snooze", "Move to"].map((name) => `<div role="button" tabindex="0" aria-label="${name}">${icon}</div>`).join("")}</div><table role="grid"><tbody>${repeat(50, mail)}</tbody></table></main></div>`,
  );
}

function calendar(): string {
  return page(
    "Calendar",
    `<header class="row"><button>Today</button><button aria-label="Previous month">‹</button><button aria-label="Next month">›</button><h1>November 2026</h1><div role="radiogroup" aria-label="View">${["Day", "Week", "Month"].map((view) => `<button role="radio" aria-checked="${String(view === "Month")}">${view}</button>`).join("")}</div></header><main><table role="grid" aria-label="November 2026"><thead><tr>${["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].map((day) => `<th scope="col" abbr="${day}">${day}</th>`).join("")}</tr></thead><tbody>${repeat(5, (week) => `<tr>${repeat(7, (day) => `<td role="gridcell"><div><button aria-label="${String(week * 7 + day + 1)} November">${String(week * 7 + day + 1)}</button></div>${repeat((week + day) % 3, (event) => `<div role="button" tabindex="0" class="card"><span>${String(9 + event * 2)}:00</span> <span>${wordsOf(week * 7 + day + event, 2)}</span></div>`)}</td>`)}</tr>`)}</tbody></table></main><aside><h2>My calendars</h2>${repeat(6, (place) => `<label><input type="checkbox" checked> ${wordsOf(place, 1)}</label>`)}</aside>`,
  );
}

function dashboard(): string {
  return framed(
    "Metrics",
    `<h1>Overview</h1><div class="grid">${["Visitors", "Orders", "Revenue", "Refunds"].map((name, place) => `<div class="card"><div class="muted">${name}</div><div><strong>${String(place * 1371 + 204)}</strong> <span>+${String(place + 2)} %</span></div><svg width="120" height="30">${repeat(20, (bar) => `<rect x="${String(bar * 6)}" y="${String((bar * 7) % 20)}" width="4" height="10"></rect>`)}</svg></div>`).join("")}</div><div class="row"><button aria-haspopup="listbox" aria-expanded="false">Last 30 days</button><div role="tablist">${["Traffic", "Sales", "Errors"].map((tab, place) => `<button role="tab" aria-selected="${String(place === 0)}">${tab}</button>`).join("")}</div></div><div role="tabpanel" aria-label="Traffic"><svg role="img" aria-label="Visitors a day" width="600" height="160">${repeat(30, (day) => `<g><rect x="${String(day * 20)}" width="16" height="${String((day * 17) % 120)}"></rect><text x="${String(day * 20)}" y="150">${String(day + 1)}</text></g>`)}</svg></div><h2>Recent orders</h2><table><tr>${["Order", "Customer", "Total", "State"].map((name) => `<th>${name}</th>`).join("")}</tr>${repeat(12, (place) => `<tr><td><a href="/orders/${String(1000 + place)}">#${String(1000 + place)}</a></td><td>${people[place % 7] ?? ""}</td><td>€${String(place * 17 + 20)}.00</td><td><span>${place % 3 === 0 ? "Paid" : "Open"}</span></td></tr>`)}</table>`,
  );
}

function settings(): string {
  return framed(
    "Account",
    `<div class="columns"><nav aria-label="Settings"><ul style="display:block">${["Profile", "Security", "Notifications", "Billing", "Team", "API keys"].map((name) => `<li><a href="/settings/${name.toLowerCase()}">${icon}<span>${name}</span></a></li>`).join("")}</ul></nav><div><h1>Notifications</h1>${repeat(5, (group) => `<section><h2>${wordsOf(group, 2)}</h2><p class="muted">${sentences(group, 1)}</p>${repeat(5, (place) => `<div class="row"><div><div id="n${String(group)}-${String(place)}">${wordsOf(group * 5 + place, 3)}</div><div class="muted">${sentences(group + place, 1)}</div></div><button role="switch" aria-checked="${String(place % 2 === 0)}" aria-labelledby="n${String(group)}-${String(place)}"><span></span></button></div>`)}</section>`)}<div class="row"><button>Save changes</button><button>Cancel</button></div></div></div>`,
  );
}

function chat(): string {
  return page(
    "Chat",
    `<div class="columns"><aside><h2>Channels</h2><div role="tree" aria-label="Channels">${repeat(14, (place) => `<div role="treeitem" tabindex="-1" aria-selected="${String(place === 2)}"><span>#</span> <span>${wordsOf(place, 1).toLowerCase()}</span>${place % 4 === 0 ? `<span class="muted">${String(place)}</span>` : ""}</div>`)}</div></aside><main><h1># harbour</h1><div role="log" aria-label="Messages">${repeat(40, (place) => `<div role="listitem" class="message"><div class="row"><button>${people[place % 7] ?? ""}</button><a href="#m${String(place)}"><time>10:${String(place + 10)}</time></a></div><div><div>${sentences(place, 1 + (place % 3))}</div></div>${place % 5 === 0 ? `<button aria-label="2 reactions, thumbs up">👍 2</button>` : ""}<div role="toolbar" style="visibility:hidden"><button>React</button><button>Reply</button></div></div>`)}</div><div contenteditable="true" role="textbox" aria-label="Message to harbour"></div><div class="row"><button aria-label="Attach">${icon}</button><button aria-label="Send" disabled>${icon}</button></div></main></div>`,
  );
}

function forum(): string {
  const comment = (seed: number, depth: number): string =>
    `<div class="comment"><div class="row"><a href="/u/${String(seed)}">${people[seed % 7] ?? ""}</a> <span class="muted">${String((seed % 20) + 2)} hours ago</span> <a href="#c${String(seed)}">[–]</a></div><div><p>${sentences(seed, 2 + (seed % 3))}</p></div><div class="row"><button aria-label="Upvote">▲</button><span>${String(seed % 90)}</span><button aria-label="Downvote">▼</button><a href="/reply?id=${String(seed)}">reply</a></div>${depth < 3 ? `<div style="padding-left:20px">${repeat(2, (place) => comment(seed * 2 + place + 1, depth + 1))}</div>` : ""}</div>`;
  return framed(
    "Threads",
    `<h1><a href="https://blog.example/${wordsOf(1, 4).replaceAll(" ", "-")}">${wordsOf(1, 10)}</a></h1><p class="muted">312 points by <a href="/u/1">Ada Lund</a> | <a href="/hide">hide</a> | 45 comments</p><form><textarea aria-label="Comment"></textarea><button>Add comment</button></form>${repeat(3, (place) => comment(place + 1, 0))}`,
  );
}

function map(): string {
  return page(
    "Map",
    `<div style="position:relative;height:700px"><div style="position:absolute;inset:0" role="application" aria-label="Map">${repeat(96, (place) => `<img src="data:," alt="" style="position:absolute;left:${String((place % 12) * 100)}px;top:${String(Math.floor(place / 12) * 90)}px" width="100" height="90">`)}${repeat(18, (place) => `<div role="button" tabindex="0" aria-label="${wordsOf(place, 2)}" style="position:absolute;left:${String(300 + ((place * 53) % 700))}px;top:${String(50 + ((place * 37) % 600))}px;width:20px;height:20px"></div>`)}</div><div style="position:absolute;left:10px;top:10px;width:340px;background:#fff"><form role="search"><input role="combobox" aria-label="Search the map" aria-expanded="false"><button aria-label="Search">${icon}</button><button aria-label="Directions">${icon}</button></form><div role="feed" aria-label="Results">${repeat(12, (place) => `<div role="article" aria-label="${wordsOf(place, 2)}"><a href="/place/${String(place)}/@52.1,4.3,15z/data=!3m1!4b1!4m6" aria-label="${wordsOf(place, 2)}"></a><div class="row"><span>${wordsOf(place, 2)}</span><span role="img" aria-label="4.${String(place % 10)} stars 210 reviews">4.${String(place % 10)}</span></div><div><span>Café</span> · <span>Harbour street ${String(place + 1)}</span></div><div>Open · closes 18:00</div><button aria-label="Directions to ${wordsOf(place, 2)}">${icon}</button></div>`)}</div></div><div style="position:absolute;right:10px;bottom:20px"><button aria-label="Zoom in">+</button><button aria-label="Zoom out">−</button><button aria-label="Layers">${icon}</button></div></div>`,
  );
}

function login(): string {
  return page(
    "Sign in",
    `<main style="max-width:380px;margin:60px auto"><h1>Sign in</h1><form><div><label for="u">E-mail</label><input id="u" type="email" autocomplete="username" value="ada@example.com"></div><div><label for="p">Password</label><input id="p" type="password" value="correct horse"><button type="button" aria-label="Show password">${icon}</button></div><label><input type="checkbox" checked> Keep me signed in</label><a href="/reset">Forgot your password?</a><button>Sign in</button></form><div role="separator">or</div>${["Google", "Apple", "GitHub"].map((name) => `<button>${icon}<span>Continue with ${name}</span></button>`).join("")}<p>New here? <a href="/join">Create an account</a></p></main>${foot("Account")}`,
  );
}

function checkout(): string {
  return framed(
    "Market",
    `<h1>Checkout</h1><div class="columns"><form aria-label="Checkout"><fieldset><legend>Address</legend>${["Name", "Street", "City", "Postcode"].map((field) => `<label>${field} <input value="${wordsOf(field.length, 1)}"></label>`).join("")}</fieldset><fieldset><legend>Delivery</legend>${["Standard, free", "Express, €4.99", "Pick up"].map((way, place) => `<div class="card"><label><input type="radio" name="d"${place === 0 ? " checked" : ""}> <span>${way}</span><div class="muted">${sentences(place, 1)}</div></label></div>`).join("")}</fieldset><fieldset><legend>Payment</legend><label>Card number <input inputmode="numeric" autocomplete="cc-number"></label><label>Expires <input placeholder="MM/YY"></label><label>Code <input type="password"></label></fieldset><button>Pay €89.97</button></form><aside aria-label="Basket"><ul>${repeat(3, (place) => `<li><img src="data:," alt="" width="40" height="40"><a href="/p/${String(place)}">${wordsOf(place, 3)}</a><label>Quantity <select>${repeat(9, (count) => `<option>${String(count + 1)}</option>`)}</select></label><span>€29.99</span><button aria-label="Remove ${wordsOf(place, 3)}">×</button></li>`)}</ul><dl><dt>Sum</dt><dd>€89.97</dd><dt>Delivery</dt><dd>free</dd><dt>Total</dt><dd>€89.97</dd></dl></aside></div>`,
  );
}

function frames(): string {
  const inner = (place: number) =>
    page(
      `Part ${String(place)}`,
      `<h2>${wordsOf(place, 3)}</h2><p>${sentences(place, 3)}</p><form><label>Answer <input></label><button>Send</button></form><ul>${repeat(8, (item) => `<li><a href="/part/${String(item)}">${wordsOf(item + place, 3)}</a></li>`)}</ul>`,
    );
  return framed(
    "Portal",
    `<h1>Portal</h1>${repeat(6, (place) => `<iframe title="Part ${String(place)}" width="600" height="320" srcdoc="${inner(place).replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"></iframe>`)}`,
  );
}

function components(): string {
  return framed(
    "Kit",
    `<h1>Components</h1>${repeat(20, (place) => `<kit-card heading="${wordsOf(place, 3)}"><p>${sentences(place, 2)}</p><a slot="link" href="/c/${String(place)}">Open ${wordsOf(place, 2)}</a></kit-card>`)}<script>
    customElements.define("kit-card", class extends HTMLElement { connectedCallback() {
      this.attachShadow({ mode: "open" }).innerHTML = '<style>:host { display: block; border: 1px solid #ddd }</style><section><h3></h3><div><slot></slot></div><kit-actions></kit-actions><footer><slot name="link"></slot></footer></section>';
      this.shadowRoot.querySelector("h3").textContent = this.getAttribute("heading");
    } });
    customElements.define("kit-actions", class extends HTMLElement { connectedCallback() {
      this.attachShadow({ mode: "open" }).innerHTML = '<div><button>Like</button><button>Share</button><label>Note <input></label></div>';
    } });</script>`,
  );
}

function modal(): string {
  return shopList().replace(
    "</body>",
    `<div style="position:fixed;inset:0;background:rgba(0,0,0,.5)"></div><div role="dialog" aria-modal="true" aria-labelledby="mt" style="position:fixed;left:30%;top:20%;width:40%;background:#fff;padding:16px"><h2 id="mt">Your privacy</h2><p>${sentences(4, 3)}</p>${["Necessary", "Statistics", "Advertising"].map((name, place) => `<label><input type="checkbox"${place === 0 ? " checked disabled" : ""}> ${name}</label>`).join("")}<div class="row"><button>Accept all</button><button>Reject all</button><button aria-label="Close">×</button></div></div></body>`,
  );
}

function chinese(): string {
  const names = ["苹果手机", "无线耳机", "智能手表", "笔记本电脑", "电饭煲", "运动鞋", "保温杯", "机械键盘"];
  const text = "这款产品采用最新技术，质量可靠，支持七天无理由退货。全国包邮，下单后二十四小时内发货。";
  return page(
    "商城",
    `<header><nav aria-label="主导航"><ul>${["首页", "分类", "购物车", "我的订单", "客服"].map((name) => `<li><a href="/${encodeURIComponent(name)}">${name}</a></li>`).join("")}</ul></nav><form role="search"><input aria-label="搜索商品" placeholder="请输入关键词"><button>搜索</button></form></header><main><h1>热门商品</h1><div class="grid">${repeat(24, (place) => `<div class="card"><a href="/商品/${String(place)}"><img src="data:," alt="${names[place % 8] ?? ""}" width="100" height="80"><h3>${names[place % 8] ?? ""} ${String(place + 1)} 号</h3></a><p>${text}</p><div><span>¥${String(place * 30 + 99)}</span> <span class="muted">已售 ${String(place * 120)} 件</span></div><button>加入购物车</button></div>`)}</div></main><footer><p>${text}</p></footer>`,
  );
}

/** Twenty pages as they are common on the web, with fixed content. */
export const pages: Readonly<Record<string, () => string>> = {
  "search results": searchResults,
  "shop list": shopList,
  product,
  article,
  docs,
  "form wizard": wizard,
  "table of 200 rows": table,
  "mail inbox": inbox,
  calendar,
  dashboard,
  settings,
  chat,
  forum,
  map,
  login,
  checkout,
  frames,
  "shadow components": components,
  modal,
  Chinese: chinese,
};
