import * as z from "zod/mini";
import { checkedLater } from "./rules.ts";
import { checked, lazyObject } from "./schema.ts";

const networkRule = () =>
  checkedLater<string>({
    keywords: {
      pattern:
        "^(?:\\[[0-9A-Fa-f:.]+\\]|[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*|(?:\\*\\.)?[^\\x00-\\x20\\x7f:/?#@\\\\*%<>^|\\[\\]]+|\\*)(?:/[0-9]{1,3})?(?::[0-9]{1,5})?$",
    },
  });
/** Entries of a list; the service checks their notation. */
export const networkRules = () =>
  checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(255), networkRule())), z.maxLength(200));

/** Hosts that sessions may and may not reach. */
export interface NetworkRules extends z.output<typeof NetworkRules> {}
export const NetworkRules = lazyObject(() => ({
  /** Hosts that can be reached, and no others; `[]` = none. Names (`example.com`), all names below one (`*.example.com`), addresses and ranges (`10.0.0.0/8`), or `*`, each with a port if wanted (`example.com:443`); at most 200. Absent = all. Private addresses stay closed. */
  allow: z.optional(networkRules()),
  /** Hosts that cannot be reached, even if `allow` contains them; written as in `allow`, at most 200. */
  deny: z.optional(networkRules()),
}));

/** Fields of changes of network rules. */
export const networkChanges = () => ({
  /** The new list of hosts that can be reached, as in `browsers.create`; `null` removes the list, so that all hosts are allowed. Absent = unchanged. */
  allow: z.optional(z.nullable(networkRules())),
  /** The new list of hosts that cannot be reached; `null` or `[]` removes the list. Absent = unchanged. */
  deny: z.optional(z.nullable(networkRules())),
});

/** Changes of network rules. Open connections that the new rules refuse are closed. */
export interface UpdateNetworkRules extends z.input<typeof UpdateNetworkRules> {}
export const UpdateNetworkRules = lazyObject(networkChanges);
