export { ByHand } from "./bench/by-hand.ts";
export { CdpDriver } from "./bench/cdp-driver.ts";
export { compare, type CompareParts } from "./bench/compare.ts";
export { percentile } from "./bench/figures.ts";
export { clickTimes, letters } from "./bench/page.ts";
export { descendants, type ProcessInfo, proportionalBytes } from "./bench/processes.ts";
export { type BenchSite, serveSite } from "./bench/site.ts";
export {
  type Actions,
  type BenchPage,
  type BenchSizes,
  type Comparison,
  type Driver,
  fullSizes,
  type Lives,
  type OpenBrowser,
  type Pair,
  quickSizes,
  type Side,
} from "./bench/types.ts";
