/** Largest width and height of a viewport, in CSS pixels: what Chromium's compositor draws in one texture. */
export const maxViewportPixels = 16_384;
