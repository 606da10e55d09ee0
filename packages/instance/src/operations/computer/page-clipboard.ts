/** Global variable in an isolated world, where the page cannot see it. */
const heard = "__shoalClipboard";

/** Its value is whether it succeeded. Works on insecure pages too, where `navigator.clipboard` is missing. */
export function writeExpression(text: string): string {
  return `(() => {
  let done = false;
  const listen = (event) => {
    event.stopImmediatePropagation();
    event.preventDefault();
    if (event.type !== "copy") return;
    event.clipboardData.setData("text/plain", ${JSON.stringify(text)});
    done = true;
  };
  for (const type of ["beforecopy", "copy"]) addEventListener(type, listen, true);
  try {
    document.execCommand("copy");
  } finally {
    for (const type of ["beforecopy", "copy"]) removeEventListener(type, listen, true);
  }
  return done;
})()`;
}

/** Captures the text of the next paste and hides the paste from the page. */
export const listenExpression = `(() => {
  const types = ["keydown", "keyup", "paste"];
  const stop = () => { for (const type of types) removeEventListener(type, listen, true); };
  const listen = (event) => {
    event.stopImmediatePropagation();
    if (event.type !== "paste") return;
    event.preventDefault();
    globalThis.${heard}.text = event.clipboardData.getData("text/plain");
  };
  globalThis.${heard} = { text: null, stop };
  for (const type of types) addEventListener(type, listen, true);
})()`;

/** Returns the captured text, `null` without a paste, and stops listening. */
export const heardExpression = `(() => {
  const { text, stop } = globalThis.${heard};
  stop();
  delete globalThis.${heard};
  return text;
})()`;
