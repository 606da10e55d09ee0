import { expect, it } from "vitest";
import { fittingWidth, jpegSize, scaledNote } from "./pictures.ts";

const jpeg = (width: number, height: number): Uint8Array =>
  Uint8Array.from([
    ...[0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 11, 8],
    ...[height >> 8, height & 255, width >> 8, width & 255, 1, 0, 0, 0, 0, 0],
  ]);

it("reads the size of a JPEG, and of nothing else", () => {
  expect(jpegSize(jpeg(1280, 10_923))).toEqual({ width: 1280, height: 10_923 });
  expect(jpegSize(new Uint8Array())).toBeUndefined();
  expect(jpegSize(Uint8Array.from([0xff, 0xd8, 0, 0, 0, 0]))).toBeUndefined();
  expect(jpegSize(new TextEncoder().encode("picture, not a JPEG"))).toBeUndefined();
});

it.each([
  [{ width: 1280, height: 720 }, false, undefined],
  [{ width: 1280, height: 10_923 }, false, 183],
  [{ width: 1280, height: 10_923 }, true, 937],
  [{ width: 1280, height: 7_999 }, true, undefined],
  [{ width: 9_000, height: 100 }, true, 8_000],
  [{ width: 2_000, height: 100 }, false, 1_568],
])("fits %j (width chosen: %j) into %j pixels", (size, isWidthChosen, width) => {
  expect(fittingWidth(size, isWidthChosen)).toBe(width);
});

it("reports the scaled size", () => {
  expect(scaledNote({ width: 1049, height: 16_384 }, { width: 100, height: 1_568 })).toMatch(
    /^Scaled down to 100 x 1568 pixels; nothing is cut\. The area is 15\.6 times as high as wide\./,
  );
});
