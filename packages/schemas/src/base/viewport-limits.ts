/** Largest width and height of a viewport, in CSS pixels: the largest texture of Chromium's compositor. */
export const maxViewportPixels = 16_384;

/** Largest width and height of the screen of a browser with a window, in pixels. */
export const maxScreenPixels = 7_680;
