/** What the first extension of a session loads. */
export { withExtensions } from "./take-extensions.ts";
export { unpackExtension } from "./unpack-extension.ts";
