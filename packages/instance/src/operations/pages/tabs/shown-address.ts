/** Omits user name and password of an address, which models, events and logs must not contain. */
export function withoutCredentials(address: string): string {
  return address.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i, "$1");
}
