import { expect, it } from "vitest";
import { failureText, forTools } from "./failure-text.ts";

const tools = new Map([["browsers.observe", "snapshot"]]);

it.each([
  ["body.ref: e404 was removed", "ref: e404 was removed"],
  ["give at most one of query.limit and params.id", "give at most one of limit and id"],
  [
    "Observe again with browsers.observe, or browsers.fs.readFile.",
    "Observe again with snapshot, or browsers.fs.readFile.",
  ],
  ["The file /home/body.txt of www.body.example", "The file /home/body.txt of www.body.example"],
])("tells a model the fields and tools of %s", (message, told) => {
  expect(forTools(message, tools)).toBe(told);
});

it("tells no part of an error in words of requests", () => {
  const failure = {
    ...{ code: "invalid_request", message: "body.ref: is unknown" },
    ...{ details: ["body.text: is too long"], fields: { field: "body.ref" }, hint: "Omit body.ref." },
  };
  expect(failureText(failure, tools)).toBe(
    'invalid_request: ref: is unknown\ntext: is too long\n{"field":"ref"}\nNext step: Omit ref.',
  );
});
