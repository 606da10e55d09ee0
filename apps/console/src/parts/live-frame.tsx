import { Center, Text } from "@mantine/core";
import { atThisOrigin } from "../base/place.ts";
import styles from "./live-frame.module.css";

interface LiveFrameProps {
  /** As the service returned it; `undefined` = the placeholder. */
  readonly url: string | undefined;
  readonly title: string;
  readonly placeholder: string;
}

/** A live view, in a frame of fixed shape, so that the page does not move when it appears. */
export function LiveFrame({ url, title, placeholder }: LiveFrameProps) {
  return (
    <div className={styles.frame}>
      {url === undefined ? (
        <Center h="100%" p="md">
          <Text c="dimmed" size="sm" ta="center">
            {placeholder}
          </Text>
        </Center>
      ) : (
        <iframe
          className={styles.view}
          src={atThisOrigin(url, "/browser/live/")}
          title={title}
          allow="clipboard-read; clipboard-write; fullscreen"
          referrerPolicy="no-referrer"
        />
      )}
    </div>
  );
}
