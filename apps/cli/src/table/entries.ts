import type { CommandEntry } from "../core/types.ts";
import { accountEntries } from "./entries/account.ts";
import { appEntries } from "./entries/apps.ts";
import { webhookEntries } from "./entries/webhooks.ts";
import { browserEntries } from "./entries/browsers.ts";
import { fileEntries } from "./entries/files.ts";
import { flowEntries } from "./entries/flows.ts";
import { handoffEntries } from "./entries/handoff.ts";
import { insideEntries } from "./entries/inside.ts";
import { pageEntries } from "./entries/pages.ts";
import { loginEntries } from "./entries/logins.ts";
import { orgEntries } from "./entries/org.ts";
import { poolEntries } from "./entries/pools.ts";
import { searchEntries } from "./entries/search.ts";

export const entries: Readonly<Record<string, CommandEntry>> = {
  ...accountEntries,
  ...appEntries,
  ...webhookEntries,
  ...browserEntries,
  ...fileEntries,
  ...flowEntries,
  ...handoffEntries,
  ...insideEntries,
  ...pageEntries,
  ...loginEntries,
  ...orgEntries,
  ...poolEntries,
  ...searchEntries,
};
