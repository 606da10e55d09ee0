import { browserbase } from "./browserbase/dialect.ts";
import { browserless } from "./browserless/dialect.ts";
import { cloudflare } from "./cloudflare/dialect.ts";
import { steel } from "./steel/dialect.ts";
import { webdriver } from "./webdriver/dialect.ts";
import type { Dialect, DialectName } from "./kit/dialect.ts";

const byName: Readonly<Record<DialectName, Dialect>> = {
  browserbase,
  browserless,
  cloudflare,
  steel,
  webdriver,
};

export const dialects: readonly Dialect[] = Object.values(byName);
