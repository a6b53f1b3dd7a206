// A room as one would write it with Node and ws: every message goes to every
// connection but the senders'. usage: node broadcast.mjs PORT
import { createRequire } from 'node:module'

// The package lies where bench/fetch put it, not beside this file.
const { WebSocketServer, WebSocket } = createRequire(process.env.BENCH_MODULES + '/')('ws')

const server = new WebSocketServer({ host: '127.0.0.1', port: Number(process.argv[2]), perMessageDeflate: false })
const receivers = new Set()

server.on('connection', (socket, request) => {
  socket.on('error', () => socket.terminate())
  if (request.url === '/send') {
    socket.on('message', data => {
      for (const receiver of receivers) {
        if (receiver.readyState === WebSocket.OPEN) receiver.send(data, { binary: false })
      }
    })
    return
  }
  receivers.add(socket)
  socket.on('close', () => receivers.delete(socket))
})
