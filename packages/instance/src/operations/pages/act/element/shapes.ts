/**
 * Where an element is painted, as text for the functions that run in a page: a drawing's parts, the area of a picture,
 * and the content of an element without a box are elsewhere than the element's own box.
 */
export const shapes = `
  const imageOf = (area) => {
    const map = area.closest("map");
    const images = map ? [...area.getRootNode().querySelectorAll("img[usemap]")] : [];
    return images.find((image) => image.useMap.endsWith("#" + map.name));
  };
  const areaRects = (area) => {
    const image = imageOf(area);
    if (!image) return [];
    const frame = image.getBoundingClientRect();
    const at = area.coords.split(/[\\s,;]+/).map(Number).filter(Number.isFinite);
    const rect = (x, y, width, height) => new DOMRect(frame.left + x, frame.top + y, width, height);
    const kind = area.shape.toLowerCase();
    if (kind === "default") return [frame];
    if (kind.startsWith("circ")) return [rect(at[0] - at[2] / 2, at[1] - at[2] / 2, at[2], at[2])];
    if (!kind.startsWith("poly")) return [rect(at[0], at[1], at[2] - at[0], at[3] - at[1])];
    const rects = [];
    for (let place = 2; place + 3 < at.length && rects.length < 10; place += 2) {
      const x = (at[0] + at[place] + at[place + 2]) / 3, y = (at[1] + at[place + 1] + at[place + 3]) / 3;
      rects.push(rect(x - 1, y - 1, 2, 2));
    }
    return rects;
  };
  const rectsOf = (element) => {
    if (element.localName === "area") return areaRects(element);
    if (element instanceof SVGElement && element.ownerSVGElement) {
      const isPainted = (part) => part instanceof SVGGraphicsElement && !/^(g|a|svg|switch)$/.test(part.localName);
      const parts = [element, ...element.querySelectorAll("*")].filter(isPainted);
      return parts.slice(0, 10).map((part) => part.getBoundingClientRect());
    }
    const own = [...element.getClientRects()].slice(0, 10);
    if (own.some(({ width, height }) => width > 0 && height > 0)) return own;
    const range = document.createRange();
    range.selectNodeContents(element);
    return [...range.getClientRects()].slice(0, 10);
  };
`;
