/** Returns an address that a link may open; `undefined` for other schemes, such as `javascript:`. */
export function webAddress(address: string | null | undefined): string | undefined {
  if (typeof address !== "string" || !URL.canParse(address)) return undefined;
  const { href, protocol } = new URL(address);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
}
