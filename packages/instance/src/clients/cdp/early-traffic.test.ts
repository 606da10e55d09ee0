import { describe, expect, it } from "vitest";
import { encodeFrame, opcode } from "../../http/frames.ts";
import { EarlyTraffic, readMessages } from "./early-traffic.ts";
import { fullMethod } from "./full-browser.ts";

const command = (method: string) => Buffer.from(JSON.stringify({ id: 1, method }));

describe("the first messages of a client", () => {
  it("are kept until the client opens a page", () => {
    const early = new EarlyTraffic();
    early.sent(command("Target.setAutoAttach"));
    early.received(encodeFrame(opcode.text, Buffer.from('{"id":1,"result":{}}')));
    expect(early.messagesSent).toHaveLength(1);
    expect(early.messagesReceived()).toEqual([{ id: 1, result: {} }]);
    early.sent(command("Page.navigate"));
    expect(early.isOver).toBe(true);
    expect(early.messagesSent).toEqual([]);
  });

  it.each([
    [
      "small commands",
      (early: EarlyTraffic) => {
        early.sent(command("Browser.getVersion"));
      },
    ],
    [
      "large answers",
      (early: EarlyTraffic) => {
        early.received(Buffer.alloc(10_000));
      },
    ],
  ])("are forgotten after too many %s", (_title, add) => {
    const early = new EarlyTraffic();
    for (let count = 0; count < 1_000; count++) add(early);
    expect(early.isOver).toBe(true);
    expect(early.messagesReceived()).toEqual([]);
  });

  it("are read as whole messages, without other frames and invalid JSON", () => {
    const frames = [
      encodeFrame(opcode.text, Buffer.from('{"method":"a"}')),
      encodeFrame(opcode.pong, Buffer.from("x")),
      encodeFrame(opcode.text, Buffer.from("no JSON")),
      encodeFrame(opcode.text, Buffer.from('{"method":"b"}')),
    ];
    const rest = encodeFrame(opcode.text, Buffer.from('{"method":"c"}')).subarray(0, 9);
    const read = readMessages(Buffer.concat([...frames, rest]));
    expect(read.messages).toEqual([{ method: "a" }, { method: "b" }]);
    expect(read.rest.equals(rest)).toBe(true);
  });
});

it("finds commands that only a full Chromium knows, and no texts that mention them", () => {
  expect(fullMethod(command("Extensions.loadUnpacked"))).toBe("Extensions.loadUnpacked");
  expect(fullMethod(command("Cast.enable"))).toBe("Cast.enable");
  // Developer tools send it to every page, and do not need its answer.
  expect(fullMethod(command("Autofill.enable"))).toBeUndefined();
  expect(fullMethod(command("Page.enable"))).toBeUndefined();
  const quoted = { id: 1, method: "Runtime.evaluate", params: { expression: '"method":"Extensions.getExtensions"' } };
  expect(fullMethod(Buffer.from(JSON.stringify(quoted)))).toBeUndefined();
});
