/** Services of models refuse a picture with a longer side, and keep refusing the conversation that contains it. */
const maxSidePixels = 8_000;
/** Models shrink larger pictures. */
const readSidePixels = 1_568;
const leastWidthPixels = 100;

/** In pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Returns the size of a JPEG; `undefined` for other bytes. */
export function jpegSize(bytes: Uint8Array): PictureSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 4 || view.getUint16(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 < bytes.length;) {
    const marker = view.getUint16(at);
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/**
 * Returns the width at which a picture fits a model, for a second picture; `undefined` if the first one fits.
 * @param isWidthChosen - whether the model requests a width: the limit is then that of the services.
 */
export function fittingWidth({ height, width }: PictureSize, isWidthChosen: boolean): number | undefined {
  const most = isWidthChosen ? maxSidePixels : readSidePixels;
  const longest = Math.max(width, height);
  return longest <= most ? undefined : Math.max(leastWidthPixels, Math.floor((width * most) / longest));
}

/** Says what a scaled picture lacks, and how to see more. @param size - of the picture that the model gets. */
export function scaledNote(whole: PictureSize, { height, width }: PictureSize): string {
  const times = (whole.height / whole.width).toFixed(1);
  return (
    `Scaled down to ${String(width)} x ${String(height)} pixels; nothing is cut. The area is ${times} times as high as wide. ` +
    "To read it, pass tile: 1 is the top, each tile is 1568 pixels high. Or pass ref, or set max_width " +
    `(a side has at most ${String(maxSidePixels)} pixels).`
  );
}
