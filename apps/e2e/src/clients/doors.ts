import { cdp } from "./cdp.ts";
import type { Door } from "./client.ts";
import { mcp, ownContract } from "./contract.ts";
import { playwright } from "./playwright.ts";
import { browserbase, browserless, cloudflare, steel } from "./services.ts";
import { webdriver } from "./webdriver.ts";

/** Every tested client, by the protocol that it speaks. */
export const doors: readonly Door[] = [
  cdp,
  playwright,
  webdriver,
  browserbase,
  steel,
  browserless,
  cloudflare,
  ownContract,
  mcp,
];
