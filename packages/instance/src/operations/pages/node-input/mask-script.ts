/**
 * For the browser's own shadow root of a field. The page sees no node, attribute or style sheet, cannot override the
 * rule, and a change of the field's type keeps it.
 */
export const hideFieldFunction = `function () {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(":host { -webkit-text-security: disc !important }");
  this.adoptedStyleSheets = [sheet];
  return true;
}`;

/** For elements without this root: the page can see the attribute. */
export const hideElementFunction = `function () {
  this.style.setProperty("-webkit-text-security", "disc", "important");
  return true;
}`;

/**
 * Many pages draw a code themselves, and buttons ("show password") replace a field by another. This observes the
 * document from an isolated world, and hides these elements before they are painted. Argument: the value that the field
 * will have, or an empty text.
 */
export const hideCopiesFunction = `function (expected) {
  const leastWhole = 4, mostPart = 3, mostTexts = 2000, mostSecrets = 50;
  const squeeze = (text) => text.replace(/\\s+/g, "");
  const known = (globalThis.shoalCopies ??= { fields: new Set(), secrets: new Set(), roots: new WeakSet() });
  if (!known.fields.has(this))
    // A caller could paste it on another site.
    for (const type of ["copy", "cut", "dragstart"])
      this.addEventListener(type, (event) => { event.preventDefault(); event.stopImmediatePropagation(); }, { capture: true });
  known.fields.add(this);
  const learn = () => {
    for (const field of known.fields) {
      const value = squeeze(field.value ?? field.textContent ?? "");
      if (value === "" || known.secrets.has(value)) continue;
      known.secrets.add(value);
      if (known.secrets.size > mostSecrets) known.secrets.delete(known.secrets.values().next().value);
    }
  };
  if (squeeze(expected) !== "") known.secrets.add(squeeze(expected));
  const containsSecret = (text) => [...known.secrets].some((one) => one.length >= leastWhole && text.includes(one));
  const isPart = (text) => text.length <= mostPart && [...known.secrets].some((one) => one.includes(text));
  const hide = (element) => {
    if (element?.style && getComputedStyle(element).webkitTextSecurity !== "disc")
      element.style.setProperty("-webkit-text-security", "disc", "important");
  };
  const look = (node) => {
    const text = squeeze(node.data);
    if (text !== "" && (containsSecret(text) || isPart(text))) hide(node.parentElement ?? node.getRootNode().host);
  };
  const lookBelow = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return look(node);
    const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    for (let count = 0; count < mostTexts && walk.nextNode(); count++) look(walk.currentNode);
  };
  const lookAtFields = (root) => {
    for (const field of root.querySelectorAll("input, textarea")) {
      const value = squeeze(field.value);
      // Codes have one field for each character.
      if (containsSecret(value) || (field.maxLength === 1 && value !== "" && isPart(value))) hide(field);
    }
  };
  for (let root = this.getRootNode(); root; root = root.host?.getRootNode()) {
    if (known.roots.has(root)) continue;
    known.roots.add(root);
    new MutationObserver((records) => {
      learn();
      for (const { type, target, addedNodes } of records) {
        if (type === "characterData") look(target);
        for (const node of addedNodes) lookBelow(node);
      }
      lookAtFields(root);
    }).observe(root, { childList: true, subtree: true, characterData: true, attributes: true });
    const lookAgain = () => { learn(); lookAtFields(root); };
    // Listeners of the page run later, before the next frame, and may set another field without a change of the tree.
    root.addEventListener("input", () => { lookAgain(); requestAnimationFrame(lookAgain); }, { capture: true, passive: true });
  }
  return true;
}`;
