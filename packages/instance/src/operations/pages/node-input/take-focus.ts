/**
 * Helper of functions in pages that have `pageTasks`: sets the focus, and waits until the page has reacted to it. Returns
 * `gone` if the page has replaced the element, `inert` if the element cannot have the focus: it is behind a modal
 * dialog, for example. A page may move the focus on at once. Argument: whether a text follows, for which a page also posts
 * tasks; for other values it replaces a field at once, in a timer or in a frame.
 */
export const takingFocus = `
  const takeFocus = async (element, isText = false) => {
    const isActive = () => element.getRootNode().activeElement === element;
    if (isActive()) return "taken";
    const begun = state.countStarted();
    let isReceived = false;
    const note = () => { isReceived = true; };
    element.addEventListener("focus", note, { capture: true, once: true });
    element.focus();
    element.removeEventListener("focus", note, { capture: true });
    // A page without the focus of its window sends no event.
    isReceived ||= isActive();
    await undefined;
    if (isText || state.countStarted() > begun) await state.untilIdle(begun);
    if (!element.isConnected) return "gone";
    return isReceived ? "taken" : "inert";
  };
`;
