/**
 * Counts changes of the document from the first call on. Timers and frame requests of all scripts of a document are
 * numbered together, so that two numbers tell whether the page started some between. `untilIdle` resolves when the
 * tasks that the page has posted, and the timers that are due, are over: `begun` is a number from before; it awaits the
 * next frame if the page has started something since then.
 */
export const pageTasks = `
  const state = (globalThis.shoalActs ??= (() => {
    const made = { changes: 0, texts: 0, begun: undefined, beganMs: 0 };
    // Elements that scripts move by their styles since the action began, and when each moved last.
    const moved = new Map(), lastMoves = new WeakMap();
    const move = (target, now) => {
      const { isOlder = made.beganMs - (lastMoves.get(target) ?? -1000) < 100, times = 0 } = moved.get(target) ?? {};
      if (now - made.beganMs < 1000) moved.set(target, { isOlder, times: times + 1 });
      lastMoves.set(target, now);
    };
    const isText = (node) => node.nodeType === Node.TEXT_NODE;
    const isTick = ({ addedNodes, removedNodes, type }) => type === "childList" && [...addedNodes, ...removedNodes].every(isText);
    new MutationObserver((records) => {
      const styled = new Set(records.filter(({ attributeName }) => attributeName === "style").map(({ target }) => target));
      for (const target of styled) move(target, performance.now());
      const others = records.filter(({ attributeName }) => attributeName !== "style");
      const ticks = others.filter(isTick).length;
      made.texts += ticks;
      made.changes += others.length - ticks;
    }).observe(document, {
      childList: true, subtree: true, attributes: true,
      attributeFilter: ["style", "hidden", "disabled", "aria-hidden", "aria-invalid", "aria-busy", "aria-expanded", "open"],
    });
    let own = 0, ownTimers = 0;
    // Only functions of this world use these names.
    for (const name of ["setTimeout", "requestAnimationFrame", "requestIdleCallback"]) {
      const plain = globalThis[name];
      globalThis[name] = (...values) => {
        own++;
        if (name === "setTimeout") ownTimers++;
        return plain(...values);
      };
    }
    made.beginMoves = () => {
      made.beganMs = performance.now();
      moved.clear();
    };
    made.isMoving = (holds, forMs) => performance.now() - made.beganMs < forMs && [...moved].some(
      ([target, { isOlder, times }]) => times > 1 && !isOlder && performance.now() - lastMoves.get(target) < 100 && holds(target));
    made.countTimers = () => {
      const timer = setTimeout(() => {});
      clearTimeout(timer);
      return timer - ownTimers;
    };
    made.countStarted = () => {
      const timer = setTimeout(() => {}), frame = requestAnimationFrame(() => {}), idle = requestIdleCallback(() => {});
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      cancelIdleCallback(idle);
      return timer + frame + idle - own;
    };
    made.after = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });
    const due = () => made.after(0);
    const posted = () => new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => { port1.close(); done(); };
      port2.postMessage(0);
    });
    // A hidden page has no frames; on a busy machine one takes long. A command may be given up after 600 ms.
    made.frame = () => new Promise((done) => {
      const isHidden = document.hidden;
      const timer = setTimeout(done, isHidden ? 50 : 400);
      requestAnimationFrame(() => { clearTimeout(timer); done(); });
    });
    made.untilIdle = async (begun) => {
      // Schedulers of frameworks post their next task when one ends.
      for (let turn = 0; turn < 3; turn++) await posted();
      await due();
      if (begun !== undefined && made.countStarted() <= begun) return false;
      await Promise.all([made.frame(), due()]);
      return true;
    };
    return made;
  })());
`;
