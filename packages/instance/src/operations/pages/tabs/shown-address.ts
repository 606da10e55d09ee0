/** Longest reported address, in characters. */
const maxUrlCharacters = 8_000;

/** An address in answers, without user name and password. */
export function shownAddress(address: string): string {
  return withoutCredentials(address).slice(0, maxUrlCharacters);
}

/** Omits user name and password of an address, which models, events and logs must not contain. */
export function withoutCredentials(address: string): string {
  return address.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i, "$1");
}
