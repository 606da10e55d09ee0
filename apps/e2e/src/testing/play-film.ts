import { eventually } from "@shoal/testkit";
import type { Page } from "playwright-core";

/** The part of a recording that is stored, while it goes on; `undefined` if nothing is. @param url - of its page. */
export async function filmSoFar(url: string): Promise<Buffer | undefined> {
  const info = (await (await fetch(`${url}/info`)).json()) as { readonly recorded_bytes?: number };
  if (info.recorded_bytes === undefined) return undefined;
  const part = await fetch(`${url}/film?bytes=${String(info.recorded_bytes)}`);
  return Buffer.from(await part.arrayBuffer());
}

/** Waits until the stored part of a recording ends red in the middle. @returns the seconds of this part. */
export function recordedRed(page: Page, url: string): Promise<number> {
  return eventually("the film is red", async () => {
    const film = await filmSoFar(url);
    if (film === undefined || film.length === 0) return undefined;
    const { last, seconds } = await play(page, film);
    const [red = 0, green = 0, blue = 0] = last;
    return red > 200 && green < 60 && blue < 60 ? seconds : undefined;
  });
}

export function play(
  page: Page,
  film: Buffer,
): Promise<{ seconds: number; width: number; height: number; last: readonly number[] }> {
  return page.evaluate(async (base64) => {
    const video = document.createElement("video");
    video.muted = true;
    video.src = `data:video/mp4;base64,${base64}`;
    await new Promise((resolve, reject) => {
      video.onloadedmetadata = resolve;
      video.onerror = () => {
        reject(new Error(video.error?.message));
      };
    });
    // A fragmented film has no duration; seeking beyond its end determines it.
    const sought = new Promise((resolve, reject) => {
      video.onseeked = resolve;
      video.onerror = () => {
        reject(new Error(video.error?.message));
      };
    });
    video.currentTime = 100_000;
    await sought;
    const seconds = video.currentTime;
    const context = new OffscreenCanvas(1, 1).getContext("2d");
    const middle = () => {
      context?.drawImage(video, 0, 0, 1, 1);
      return [...(context?.getImageData(0, 0, 1, 1).data ?? [])];
    };
    let last = middle();
    // The canvas stays empty until the frame is decoded.
    for (let frame = 0; frame < 600 && last[3] === 0; frame += 1) {
      await new Promise(requestAnimationFrame);
      last = middle();
    }
    video.currentTime = 0;
    await video.play();
    if (!video.ended)
      await new Promise((resolve) => {
        video.onended = video.ontimeupdate = () => {
          if (video.currentTime > 0) resolve(undefined);
        };
      });
    return { seconds, width: video.videoWidth, height: video.videoHeight, last };
  }, film.toString("base64"));
}
