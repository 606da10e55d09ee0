import { browserbase } from "./browserbase/dialect.ts";
import type { Dialect, DialectName } from "./kit/dialect.ts";

const byName: Readonly<Record<DialectName, Dialect>> = { browserbase };

export const dialects: readonly Dialect[] = Object.values(byName);
