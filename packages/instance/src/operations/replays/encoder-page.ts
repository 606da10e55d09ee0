/** Runs in a page of the helper browser, which has the encoder: receives frames, emits the bytes of MP4 files. */
import { AppendOnlyStreamTarget, canEncodeVideo, CanvasSource, Mp4OutputFormat, Output, Quality } from "mediabunny";

/** Binding created by the instance; takes `<key>:<base64>`. */
declare const emitBytes: (payload: string) => void;

/** Seconds between key frames. The file grows by one interval at a time, so a crash loses no more. */
const keyFrameSeconds = 2;
const bitsPerPixel = 1.5;
/** `String.fromCharCode` takes a limited number of arguments. */
const charactersAtOnce = 8192;

interface File {
  readonly output: Output;
  readonly canvas: OffscreenCanvas;
  readonly context: OffscreenCanvasRenderingContext2D;
  readonly source: CanvasSource;
  readonly frameSeconds: number;
  lastSeconds: number;
}

const files = new Map<string, File>();

function emit(key: string, bytes: Uint8Array): void {
  let text = "";
  for (let start = 0; start < bytes.length; start += charactersAtOnce)
    text += String.fromCharCode(...bytes.subarray(start, start + charactersAtOnce));
  emitBytes(`${key}:${btoa(text)}`);
}

function fileOf(key: string): File {
  const file = files.get(key);
  if (file === undefined) throw new Error(`no file ${key}`);
  return file;
}

/** Times must increase, or two frames would have the same time. */
async function add(file: File, seconds: number): Promise<void> {
  const at = Math.max(seconds, file.lastSeconds + 0.001);
  file.lastSeconds = at;
  await file.source.add(at, file.frameSeconds);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

const recorder = {
  /** Creates a file; width and height must be even. */
  async open(key: string, width: number, height: number, framerate: number): Promise<void> {
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d", { alpha: false });
    if (context === null) throw new Error("no canvas");
    const quality = new Quality({ bitrate: Math.round(width * height * bitsPerPixel) });
    // A Chromium without licensed codecs supports only VP9.
    const codec = (await canEncodeVideo("avc", { width, height, quality })) ? "avc" : "vp9";
    const source = new CanvasSource(canvas, {
      codec,
      quality,
      keyFrameInterval: keyFrameSeconds,
      latencyMode: "realtime",
    });
    const output = new Output({
      format: new Mp4OutputFormat({ fastStart: "fragmented", minimumFragmentDuration: 1 }),
      target: new AppendOnlyStreamTarget(
        new WritableStream<Uint8Array>({
          write(bytes) {
            emit(key, bytes);
          },
        }),
      ),
    });
    output.addVideoTrack(source);
    await output.start();
    files.set(key, { output, canvas, context, source, frameSeconds: 1 / framerate, lastSeconds: -1 });
  },
  /** Draws a picture into the frame, scaled down or with bars where the aspect ratio differs, and adds it. */
  async frame(key: string, seconds: number, jpeg: string): Promise<void> {
    const file = fileOf(key);
    const picture = await createImageBitmap(new Blob([fromBase64(jpeg)], { type: "image/jpeg" }));
    const { width, height } = file.canvas;
    const scale = Math.min(width / picture.width, height / picture.height);
    // A page seldom has an even size: stretches by a pixel instead of adding a bar.
    const fit = (size: number, whole: number): number => (Math.abs(size - whole) < 2 ? whole : Math.round(size));
    const [w, h] = [fit(picture.width * scale, width), fit(picture.height * scale, height)];
    file.context.fillRect(0, 0, width, height);
    file.context.drawImage(picture, (width - w) >> 1, (height - h) >> 1, w, h);
    picture.close();
    await add(file, seconds);
  },
  /** Adds the last picture again. */
  async repeat(key: string, seconds: number): Promise<void> {
    await add(fileOf(key), seconds);
  },
  /** Adds the last picture at the end and finishes the file. */
  async close(key: string, seconds: number): Promise<void> {
    const file = fileOf(key);
    files.delete(key);
    await add(file, seconds - file.frameSeconds);
    await file.output.finalize();
  },
};
export type EncoderPage = typeof recorder;
Object.assign(globalThis, { shoalRecorder: recorder });
