import { isIP } from "node:net";

const jsonKeys = ["ip", "ip_address", "origin", "query", "address"];

/** Reads answers of a plain address, JSON (`{"ip": …}`), or lines (`ip=…`). */
export function exitAddressIn(text: string): string | undefined {
  const candidates: unknown[] = [text];
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null)
      candidates.push(
        ...Object.entries(parsed)
          .filter(([key]) => jsonKeys.includes(key))
          .map(([, value]: [string, unknown]) => value),
      );
    else candidates.push(parsed);
  } catch {
    candidates.push(/^ip=(.*)$/m.exec(text)?.[1]);
  }
  return candidates
    .map((candidate) => (typeof candidate === "string" ? (candidate.split(",", 1)[0] ?? "").trim() : ""))
    .find((candidate) => isIP(candidate) !== 0);
}
