import { browserbase } from "./browserbase/dialect.ts";
import { browserless } from "./browserless/dialect.ts";
export { webDriverError } from "./webdriver/error-body.ts";
import { cloudflare } from "./cloudflare/dialect.ts";
import { steel } from "./steel/dialect.ts";
import type { Dialect, DialectName } from "./kit/dialect.ts";

const byName: Readonly<Record<Exclude<DialectName, "webdriver">, Dialect>> = {
  browserbase,
  browserless,
  cloudflare,
  steel,
};

export const dialects: readonly Dialect[] = Object.values(byName);
