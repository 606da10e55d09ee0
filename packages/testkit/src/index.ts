export { eventually, eventuallyPasses } from "./eventually.ts";
export { filesBelow } from "./files-below.ts";
export { slowTestLimitMs, testLimitMs, waitLimitMs } from "./limits.ts";
export { sharedDatabase, type SharedDatabase } from "./shared-database.ts";
