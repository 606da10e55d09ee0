import { expect, it } from "vitest";
import { commandOf } from "./commands.ts";
import { filmClock, momentIn, parseMoment, replayTitle } from "./moment.ts";

it("reads the moments of links", () => {
  expect(["12.5", "1:05", "1:00:05", "90s", "1m30s", "1h", "", "x", "-1", "1:2:3:4"].map(parseMoment)).toEqual([
    12.5,
    65,
    3605,
    90,
    90,
    3600,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(momentIn({ search: "?t=3", hash: "" })).toBe(3);
  expect(momentIn({ search: "?t=3", hash: "#t=0:04" })).toBe(4);
  expect(momentIn({ search: "", hash: "" })).toBeUndefined();
});

it("shows the time of a film", () => {
  expect([-1, 5.9, 65, 3605].map(filmClock)).toEqual(["00:00", "00:05", "01:05", "1:00:05"]);
});

it("knows the keys of video players", () => {
  expect(["k", "K", "7", "ArrowLeft", ".", ">", "x"].map(commandOf)).toEqual([
    { type: "toggle" },
    { type: "toggle" },
    { type: "part", part: 0.7 },
    { type: "move", seconds: -5 },
    { type: "move", seconds: 0.1 },
    { type: "speed", step: 1 },
    undefined,
  ]);
});

it("names the session and the time in the title of a recording", () => {
  expect(replayTitle("order-agent", "2026-11-24T14:18:50Z")).toMatch(/^Recording of order-agent, .*2026/);
  expect(replayTitle("order-agent", null)).toBe("Recording of order-agent");
  expect(replayTitle(undefined, undefined)).toBe("Recording");
});
