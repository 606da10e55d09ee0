export { eventually, eventuallyPasses } from "./eventually.ts";
export { slowTestLimitMs, testLimitMs, waitLimitMs } from "./limits.ts";
