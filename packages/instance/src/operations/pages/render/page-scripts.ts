/** Scripts for the isolated world of a page, where the page's own scripts cannot interfere. */

/** All elements of a selector in the document and its open shadow roots. */
const findAll = `const findAll = (selector, most) => {
  document.createDocumentFragment().querySelector(selector);
  const found = [];
  let looked = 0;
  const findIn = (root) => {
    for (const element of root.querySelectorAll(selector)) { if (found.length >= most) return; found.push(element); }
    for (const element of root.querySelectorAll("*")) {
      if (++looked > 100000 || found.length >= most) return;
      if (element.shadowRoot) findIn(element.shadowRoot);
    }
  };
  findIn(document);
  return found;
};`;

/** Whether the conditions of `wait_for` hold. */
export const holdsFunction = `(wanted) => {
  ${findAll}
  const squeeze = (text) => text.replace(/\\s+/g, " ").toLowerCase();
  const shows = (root, needle) => {
    const parts = root.body ? [root.body] : [...root.children];
    if (parts.some((part) => squeeze(part.innerText ?? "").includes(needle))) return true;
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    while (walk.nextNode()) if (walk.currentNode.shadowRoot && shows(walk.currentNode.shadowRoot, needle)) return true;
    return false;
  };
  if (wanted.selector !== undefined) {
    const found = findAll(wanted.selector, 1000);
    const isSeen = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
    const seen = wanted.state === "attached" ? found.length > 0 : found.some(isSeen);
    if (seen === (wanted.state === "hidden")) return false;
  }
  return wanted.text === undefined || shows(document, squeeze(wanted.text).trim());
}`;

export const factsFunction = `() => ({ url: location.href.slice(0, 8000), title: document.title.slice(0, 1000) })`;

export const htmlFunction = `(most) => {
  const type = document.doctype === null ? "" : new XMLSerializer().serializeToString(document.doctype) + "\\n";
  const html = type + (document.documentElement?.outerHTML ?? "");
  return { text: html.slice(0, most).toWellFormed(), isCut: html.length > most };
}`;

export const textFunction = `(most) => {
  const text = document.body?.innerText ?? document.documentElement?.textContent ?? "";
  return { text: text.slice(0, most).toWellFormed(), isCut: text.length > most };
}`;

export const linksFunction = `(most) => {
  ${findAll}
  const links = new Map();
  for (const element of findAll("a[href], area[href]", 50000)) {
    const url = String(element.href?.baseVal ?? element.href);
    if (!/^(https?|mailto|tel|ftp):/.test(url) || url.length > 8000 || links.has(url)) continue;
    if (links.size >= 5000) return { text: JSON.stringify([...links.values()]), isCut: true };
    const text = (element.innerText ?? element.textContent ?? "").trim() || element.getAttribute("alt") || "";
    links.set(url, { url, text: text.slice(0, 500).toWellFormed() });
  }
  return { text: JSON.stringify([...links.values()]), isCut: false };
}`;

export const elementsFunction = `(most, selectors) => {
  ${findAll}
  let left = most, isCut = false;
  const take = (text) => {
    const taken = text.slice(0, Math.max(0, left)).toWellFormed();
    if (taken.length < text.length) isCut = true;
    left -= taken.length;
    return taken;
  };
  const describe = (element) => {
    const box = element.getBoundingClientRect();
    return {
      text: take(element.innerText ?? element.textContent ?? ""),
      html: take(element.innerHTML),
      attributes: Object.fromEntries([...element.attributes].slice(0, 200).map(({ name, value }) => [take(name), take(value)])),
      x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height,
    };
  };
  const found = selectors.map((selector) => {
    const matching = findAll(selector, 201);
    if (matching.length > 200) isCut = true;
    return { selector, results: matching.slice(0, 200).map(describe) };
  });
  return { text: JSON.stringify(found), isCut };
}`;

/** Replaces the empty document. */
export const writeFunction = `(html) => { document.open(); document.write(html); document.close(); return null; }`;
