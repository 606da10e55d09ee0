import { ServiceError } from "@shoal/router";
import { expect, it, onTestFinished, vi } from "vitest";
import { CarriedSecrets } from "./carried-secrets.ts";
import { TypedSecrets } from "./typed-secrets.ts";

const secret = String.raw`Tr0ub4dor&3 "pläin"/\+=?<x>`;

function knowing(...values: readonly string[]): TypedSecrets {
  const secrets = new TypedSecrets();
  for (const value of values) secrets.add(value);
  return secrets;
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
const numbered = (text: string) => Array.from(text, (one) => `&#${String(one.codePointAt(0))};`).join("");
const unicode = (text: string) =>
  text.replaceAll(/[^a-z0-9]/gi, (one) => String.raw`\u` + one.charCodeAt(0).toString(16).padStart(4, "0"));

it.each<[string, string]>([
  ["as it is", secret],
  ["in other letters", secret.toUpperCase()],
  ["in JSON", JSON.stringify(secret)],
  ["in JSON in JSON", JSON.stringify(JSON.stringify({ secret }))],
  ["in JSON with numbered characters", unicode(secret)],
  ["in a form", new URLSearchParams({ secret }).toString()],
  ["in an address", `https://a.example/?q=${encodeURIComponent(secret)}`],
  [
    "in the address that Chromium writes",
    new URL(`https://a.example/x?q=${secret.replace("#", "")}`).href.replace("%3C", "%3c"),
  ],
  ["in an address in an address", encodeURIComponent(encodeURIComponent(secret))],
  ["in HTML", escaped(secret)],
  ["in HTML in HTML", escaped(escaped(secret))],
  ["in HTML with numbered characters", numbered(secret)],
  ["in Base64", Buffer.from(secret).toString("base64")],
  ["in Base64 after one character", Buffer.from(`:${secret}`).toString("base64")],
  ["in Base64 after two characters, before others", Buffer.from(`a:${secret}:b`).toString("base64")],
  ["in Base64 for addresses", Buffer.from(`user:${secret}`).toString("base64url")],
  ["in Base64 in an address", encodeURIComponent(Buffer.from(secret).toString("base64"))],
  ["in hexadecimal digits", Buffer.from(secret).toString("hex")],
])("replaces a secret %s", (_form, text) => {
  const shown = knowing(secret).inText(`before ${text} after`);
  expect(shown).toMatch(/^before .*\*\*\*.* after$/s);
  expect(shown.length).toBeLessThan(40);
});

it("keeps other texts, also texts that begin like a secret", () => {
  const secrets = knowing("correct-horse");
  for (const text of ["", "correct", "correct answers", "corre ct-horse", "Y29ycmVj", "horse"])
    expect(secrets.inText(text)).toBe(text);
});

it("replaces a secret that is cut off at the end of a text, and a secret after half of it", () => {
  const secrets = knowing("correct-horse");
  const long = " it is long ".repeat(20);
  expect(secrets.inText(`${long}correct-ho`)).toBe(`${long}***`);
  expect(secrets.inText('name "correct-h…" [e1]')).toBe('name "***…" [e1]');
  expect(secrets.inText("corrcorrect-horse")).toBe("corr***");
  expect(knowing("aaaaaaab").inText("aaaaaaaaaab aaaa")).toBe("aaa*** aaaa");
});

it("replaces the longer one of two secrets, and leaves short ones", () => {
  const secrets = knowing("alice1", "alice1-and-more", "1234", "      ");
  expect(secrets.inText("alice1-and-more alice1 1234")).toBe("*** *** 1234");
});

it("hides a value that the caller knows in events only", () => {
  const secrets = new TypedSecrets();
  secrets.add("typed-by-agent", "telemetry");
  expect([secrets.inText("typed-by-agent"), secrets.inEvent({ a: "typed-by-agent" })]).toEqual([
    "typed-by-agent",
    { a: "***" },
  ]);
});

it("replaces every text of answers, events and errors, and passes bytes on", async () => {
  const secrets = knowing("correct-horse");
  const stream = Buffer.from("correct-horse");
  expect(secrets.inAnswer({ a: ["correct-horse", 1, null], "correct-horse": { b: "x" }, stream })).toEqual({
    a: ["***", 1, null],
    "***": { b: "x" },
    stream,
  });
  const events = secrets.inAnswer(
    (async function* () {
      yield await Promise.resolve({ id: "1", data: "correct-horse" });
    })(),
  );
  expect(await events.next()).toEqual({ done: false, value: { id: "1", data: "***" } });
  const error = secrets.inError(
    new ServiceError(409, "conflict", "no correct-horse", { field: "body.x", hint: "Try correct-horse.", limit: 3 }),
  );
  expect(error).toMatchObject({ status: 409, code: "conflict", problem: "no ***", hint: "Try ***.", limit: 3 });
  const other = new Error("correct-horse");
  expect(secrets.inError(other)).toBe(other);
});

it("replaces numbers of answers that are secrets: a field for numbers has its value as one", () => {
  const secrets = knowing("492817", "012345", "4111 1111 1111 1111", "000017", "0x4e20");
  expect(
    secrets.inAnswer({
      code: 492817,
      zeros: 12345,
      card: [4111111111111111],
      list: [1, 17, 4928170, 20_000, Number.NaN],
    }),
  ).toEqual({ code: "***", zeros: "***", card: ["***"], list: [1, 17, 4928170, 20_000, Number.NaN] });
  // The schema of an event has numbers.
  expect(secrets.inEvent({ ts: 492817, text: "492817" })).toEqual({ ts: 492817, text: "***" });
});

it("ends on hostile texts", () => {
  const secrets = knowing("a".repeat(60_000), `${"\\".repeat(50)}"x`, "%25%25%25%25");
  for (const text of ["a".repeat(100_000), "\\".repeat(100_000), "%25".repeat(50_000), "&amp;".repeat(50_000)])
    expect(secrets.inText(text).length).toBeGreaterThan(0);
});

it("hides the text of a field, and forgets a part of it only when no other field has it", () => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const secrets = new TypedSecrets();
  const type = (text: string) => {
    for (let end = 1; end <= text.length; end++) secrets.observe(text.slice(0, end), text.slice(0, end - 1));
  };
  type("harbour");
  type("harbour-2");
  const shown = () => ["harbou", "harbour", "harbour-", "harbour-2"].map((value) => secrets.inEvent(`<${value}>`));
  expect(shown()).toEqual(["<***>", "<***>", "<***>", "<***>"]);
  vi.advanceTimersByTime(60_000);
  expect(shown()).toEqual(["<harbou>", "<***>", "<***->", "<***>"]);
  secrets.observe("", "harbour-2");
  secrets.observe("short", "");
  expect(secrets.inEvent("short harbour-2")).toBe("short ***");
  // The caller's own values stay in its answers.
  expect(secrets.inAnswer({ text: "harbour" })).toEqual({ text: "harbour" });
});

it("keeps the values of logins, however much is typed in fields", () => {
  const secrets = new TypedSecrets();
  secrets.add("of the login");
  for (let count = 0; count < 300; count++) secrets.observe(`typed ${String(count)}`, "");
  expect(secrets.inEvent("of the login, typed 299")).toBe("***, ***");
});

it("hides in a fork the values that its parent hides", () => {
  const parent = knowing("stored-value");
  parent.add("known-to-caller", "telemetry");
  parent.observe("typed-by-person", "");
  parent.add("1234");
  const fork = new TypedSecrets();
  fork.take(CarriedSecrets.parse(JSON.parse(JSON.stringify(parent.carried()))));
  const text = "stored-value known-to-caller typed-by-person";
  expect(fork.hidesPages).toBe(true);
  expect(fork.inText(text)).toBe("*** known-to-caller typed-by-person");
  expect(fork.inEvent(text)).toBe("*** *** ***");
});

it("takes no short text from an archive", () => {
  const fork = new TypedSecrets();
  fork.take({ everywhere: ["", "a", "  b   "], telemetry: ["a"], observed: ["a"], hides_pages: false });
  expect([fork.inText("a banana"), fork.inEvent("a banana")]).toEqual(["a banana", "a banana"]);
});
