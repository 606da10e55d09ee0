/** Helpers of functions in pages: text, because a bundler may change functions. */
export const hitTest = `
  // A form's fields hide its properties: <input name=parentNode>.
  const getterOf = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const parentOf = getterOf(Node, "parentNode"), slotOf = getterOf(Element, "assignedSlot"), nodesOf = getterOf(Node, "childNodes");
  const around = (node) => (node instanceof Element ? slotOf.call(node) : undefined) ?? parentOf.call(node) ?? (node instanceof ShadowRoot ? node.host : null);
  /** The element that receives a click at the point, as far as it is not a part of this one. */
  const coverAt = (element, x, y) => {
    const whole = element.closest("button, a, [role=button], [role=link]") ?? element;
    const accepted = new Set([element, whole, ...(element.labels ?? [])]);
    // The area of a picture is hit as the picture.
    const { name } = (element.localName === "area" && element.closest("map")) || {};
    if (name) for (const image of element.getRootNode().querySelectorAll("img[usemap]")) if (image.useMap.endsWith("#" + name)) accepted.add(image);
    /** A text of a component is hit as the component, also where a part inside shows it. */
    const isOwnText = (host) => [...nodesOf.call(host)].some((text) => {
      if (!(text instanceof Text) || !text.assignedSlot) return false;
      const range = document.createRange();
      range.selectNode(text);
      if (![...range.getClientRects()].some(({ left, right, top, bottom }) => x >= left && x <= right && y >= top && y <= bottom)) return false;
      for (let at = text.assignedSlot; at; at = around(at)) if (accepted.has(at)) return true;
      return false;
    });
    // Closed roots are known only from inside.
    const inner = new Map();
    for (let root = element.getRootNode(); root.host; root = root.host.getRootNode()) inner.set(root.host, root);
    for (let hit = document.elementFromPoint(x, y); ; ) {
      if (!hit) return document.documentElement;
      for (let at = hit; at; at = around(at)) if (accepted.has(at)) return undefined;
      const next = (hit.shadowRoot ?? inner.get(hit))?.elementFromPoint(x, y);
      if (!next || next === hit) return isOwnText(hit) ? undefined : hit;
      hit = next;
    }
  };
`;
