export { findChromium, type ChromiumKind, type ChromiumSource, type FoundChromium } from "./chromium.ts";
