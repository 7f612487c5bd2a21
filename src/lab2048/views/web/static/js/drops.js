// What is dropped on a page.

/**
 * Take what is dropped on an element, until the function that is returned is called: the element outlives its page.
 * @param {HTMLElement} element
 * @param {(dropped: DataTransfer | null) => unknown} take
 */
export function takeDrops(element, take) {
  const end = new AbortController();
  const { signal } = end;
  element.addEventListener("dragover", (event) => event.preventDefault(), { signal });
  element.addEventListener(
    "drop",
    (event) => {
      event.preventDefault();
      take(event.dataTransfer);
    },
    { signal },
  );
  return () => end.abort();
}
