import { checkedLater } from "./rules.ts";

const host = String.raw`(?:\[[0-9A-Fa-f:.]{2,45}\]|[^\x00-\x20\x7f/?#@\\*%<>^|\[\]:]+)(?::[0-9]{1,5})?`;

/** States that a text is a host with an optional port. @param wildcard - whether `*.` may come first. */
// @__NO_SIDE_EFFECTS__
export function siteName(wildcard = false): ReturnType<typeof checkedLater<string>> {
  return checkedLater({ keywords: { pattern: `^${wildcard ? String.raw`(?:\*\.)?` : ""}${host}$` } });
}

/** A web address with a host and without user name and password. */
export const webAddress = `^[Hh][Tt][Tt][Pp][Ss]?://${host}(?:[/?][^\\s#]*)?$`;
