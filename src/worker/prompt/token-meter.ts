import type { ModelMessage, ModelRequest, ToolDefinition } from '../model/model.js';
import { tokensOf } from './token-budget.js';

/** What the wire adds to each message: role and separators. */
const tokensPerMessage = 4;
/** An image's tokens depend on its size, which is not known here; this is OpenAI's figure for 1024 × 1024 in high detail. */
const tokensPerImage = 765;

/** Counts the tokens of a turn's requests; a text that was counted is not counted again. */
export class TokenMeter {
  private readonly known = new Map<string, number>();

  /** Tokens that a request puts into the model's window. */
  async ofRequest(request: Pick<ModelRequest, 'messages' | 'tools'>): Promise<number> {
    let total = 0;
    for (const message of request.messages) total += await this.ofMessage(message);
    for (const tool of request.tools) total += await this.ofTool(tool);
    return total;
  }

  async ofMessage(message: ModelMessage): Promise<number> {
    switch (message.role) {
      case 'system':
      case 'tool':
        return tokensPerMessage + (await this.ofText(message.content));
      case 'user':
        return tokensPerMessage + (await this.ofContent(message.content));
      case 'assistant': {
        const calls = message.toolCalls.map((call) => `${call.name} ${call.arguments}`).join('\n');
        const text = `${message.content ?? ''}${message.reasoning ?? ''}${calls}`;
        return tokensPerMessage * (1 + message.toolCalls.length) + (await this.ofText(text));
      }
    }
  }

  async ofText(text: string): Promise<number> {
    const known = this.known.get(text);
    if (known !== undefined) return known;
    const counted = await tokensOf(text);
    this.known.set(text, counted);
    return counted;
  }

  private async ofContent(
    content: Extract<ModelMessage, { role: 'user' }>['content'],
  ): Promise<number> {
    if (typeof content === 'string') return this.ofText(content);
    let total = 0;
    for (const part of content) {
      total += part.type === 'text' ? await this.ofText(part.text) : tokensPerImage;
    }
    return total;
  }

  private ofTool(tool: ToolDefinition): Promise<number> {
    return this.ofText(JSON.stringify(tool));
  }
}
