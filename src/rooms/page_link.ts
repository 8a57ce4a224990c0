/** What the supervisor is asked for a page by: nothing that came from outside. */
type Asked = null;

/** The page; `null` if it could not be made. */
type Page = string | null;

/** The end of the room that shows the page: asks for it as it is now. */
export class PageCaller {
  readonly #port: MessagePort;
  #coming: PromiseWithResolvers<Page> | undefined;

  constructor(port: MessagePort) {
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<Page>) => {
      this.#coming?.resolve(data);
      this.#coming = undefined;
    };
  }

  /**
   * Who asks while a page is on its way gets that one: however many ask and do not wait, one is made at a time, and none
   * is made for those who have gone.
   * @throws {Error} If it could not be made.
   */
  async page(): Promise<string> {
    if (this.#coming === undefined) {
      this.#coming = Promise.withResolvers<Page>();
      const asked: Asked = null;
      this.#port.postMessage(asked);
    }
    const page = await this.#coming.promise;
    if (page === null) throw new Error("the page could not be made");
    return page;
  }
}

/** The supervisor's end. Pages are made one after the other. @param failed Told why one could not be made. */
export function servePage(
  port: MessagePort,
  make: () => Promise<string>,
  failed: (error: unknown) => void,
): void {
  let last: Promise<void> = Promise.resolve();
  port.onmessage = () => {
    last = last.then(make).then(
      (page) => port.postMessage(page),
      (error) => {
        failed(error);
        port.postMessage(null);
      },
    );
  };
}
