import fc from "fast-check";
import { expect, it } from "vitest";
import { parseChord } from "./chord.ts";

const codes = (chord: string) => parseChord(chord, [], "body.keys[0]").map(({ code, key }) => code || key);

it("parses chords, including plus signs as keys", () => {
  expect(codes("Ctrl+Shift+Tab")).toEqual(["ControlLeft", "ShiftLeft", "Tab"]);
  expect(codes("ctrl + a")).toEqual(["ControlLeft", "KeyA"]);
  expect(codes("+")).toEqual(["ShiftLeft", "Equal"]);
  expect(codes("Ctrl++")).toEqual(["ControlLeft", "ShiftLeft", "Equal"]);
  expect(codes("Ctrl+plus")).toEqual(["ControlLeft", "ShiftLeft", "Equal"]);
  expect(codes("KP_Add")).toEqual(["NumpadAdd"]);
  expect(codes(" ")).toEqual(["Space"]);
});

it("adds Shift where a character needs it, except for letters in shortcuts", () => {
  expect(codes("A")).toEqual(["ShiftLeft", "KeyA"]);
  expect(codes("Shift+A")).toEqual(["ShiftLeft", "KeyA"]);
  expect(codes("Ctrl+A")).toEqual(["ControlLeft", "KeyA"]);
  expect(codes("Alt+!")).toEqual(["AltLeft", "ShiftLeft", "Digit1"]);
  expect(codes("Ctrl+ISO_Left_Tab")).toEqual(["ControlLeft", "ShiftLeft", "Tab"]);
});

it("rejects unknown keys and parses all known ones", () => {
  for (const chord of ["Ctrl+", "Bogus", "+a", "Ctrl+Nope+a", "\u0007", "U110000", "UD800", "\uD800"])
    expect(() => codes(chord)).toThrow(/body\.keys\[0\]: unknown key/);
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 20 }), (chord) => {
      try {
        expect(codes(chord).length).toBeGreaterThan(0);
      } catch (error) {
        expect(String(error)).toContain("unknown key");
      }
    }),
  );
});
