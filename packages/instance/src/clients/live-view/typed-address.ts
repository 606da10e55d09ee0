/** Completes a typed address; returns `undefined` for addresses that viewers may not open. */
export function addressOf(typed: string): string | undefined {
  const text = typed.trim();
  if (text === "about:blank") return text;
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(\/|$)/i.test(text);
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `${isLocal ? "http" : "https"}://${text}`;
  if (!URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return protocol === "http:" || protocol === "https:" ? href : undefined;
}
