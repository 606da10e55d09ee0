import type { Page } from "playwright-core";

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
    const sought = new Promise((resolve) => {
      video.onseeked = resolve;
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
