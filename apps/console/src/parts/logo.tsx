/** The mark of Shoal: two fish. */
export function Logo({ size = 28 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden>
      <rect width="32" height="32" rx="8" fill="var(--mantine-primary-color-filled)" />
      <g fill="#fff">
        <path d="M5 11c4-4 9-4 12 0-3 4-8 4-12 0Zm12 0 5-3v6Z" />
        <path opacity=".75" d="M10 21c4-4 9-4 12 0-3 4-8 4-12 0Zm12 0 5-3v6Z" />
      </g>
    </svg>
  );
}
