import { Loader } from "@mantine/core";
import { useInViewport } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Clapperboard, ImageOff } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import type { Browser } from "@shoal/schemas";
import { thumbnailQuery } from "../../api/thumbnails.ts";
import { useSignedIn } from "../../api/shoal.ts";
import styles from "./session-grid.module.css";

/** A picture of a running session, refreshed while the card is visible. */
export function Thumbnail({ browser }: { readonly browser: Browser }) {
  const { shoal } = useSignedIn();
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const isRunning = browser.deleted_at === undefined;
  const { data, isError, isFetching } = useQuery({
    ...thumbnailQuery(shoal, browser.session_id),
    enabled: isRunning && inViewport,
  });
  return (
    <div ref={ref} className={styles.picture}>
      {isRunning && data !== undefined ? (
        <Picture blob={data} />
      ) : !isRunning ? (
        <Placeholder icon={<Clapperboard size={26} aria-hidden />} text="Ended" />
      ) : (
        <>
          {isError && <Placeholder icon={<ImageOff size={26} aria-hidden />} text="No picture" />}
          {isFetching && !isError && <Loader size={22} role="img" aria-label="Loading the picture" />}
        </>
      )}
    </div>
  );
}

function Placeholder({ icon, text }: { readonly icon: ReactNode; readonly text: string }) {
  return (
    <span className={styles.placeholder}>
      {icon}
      {text}
    </span>
  );
}

function Picture({ blob }: { readonly blob: Blob }) {
  const image = useRef<HTMLImageElement>(null);
  useEffect(() => {
    const url = URL.createObjectURL(blob);
    if (image.current !== null) image.current.src = url;
    return () => {
      URL.revokeObjectURL(url);
    };
  }, [blob]);
  return <img ref={image} alt="" />;
}
