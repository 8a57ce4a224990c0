/** Client that begins to read an answer, and reads the rest when a test calls `rest()`. */
export class SlowClient implements Disposable {
  readonly #connection: Deno.Conn;
  readonly #buffer = new Uint8Array(64 * 1024);
  #count = 0; // bytes of the body so far

  private constructor(connection: Deno.Conn) {
    this.#connection = connection;
  }

  /** Sends a request and reads the head of its answer. */
  static async send(connection: Deno.Conn, request: string): Promise<SlowClient> {
    await connection.write(new TextEncoder().encode(request));
    const client = new SlowClient(connection);
    let read = "";
    let end: number;
    while ((end = read.indexOf("\r\n\r\n")) < 0) {
      const count = await client.#read();
      if (count === 0) throw new Error(`the connection ended in the head: ${read}`);
      read += new TextDecoder("latin1").decode(client.#buffer.subarray(0, count));
    }
    client.#count = read.length - end - 4;
    return client;
  }

  /** Reads to the body's `length`, or to the end of the connection. @returns Bytes of the body. */
  async rest(length = Infinity): Promise<number> {
    while (this.#count < length) {
      const count = await this.#read();
      if (count === 0) break;
      this.#count += count;
    }
    return this.#count;
  }

  async #read(): Promise<number> {
    return await this.#connection.read(this.#buffer) ?? 0;
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }
}
