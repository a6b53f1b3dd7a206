package config
import ("testing";"fmt")
func TestY(t *testing.T){
 for _,s:=range []string{"{token: sha256:abc, b: []}","[mcp/request:tools/call:*, chat]","[mcp/*, chat, mcp/request:*]","{token: ${env:YOU}, b: 1}","a: ${env:YOU}\nb: sha256:abc\nc: mcp/request:*","url: http://127.0.0.1:9000/mcp","{url: http://127.0.0.1:9000/mcp}","listen: 127.0.0.1:7717","{listen: 127.0.0.1:7717}","[-y, --x=1, -]","- mcp/request:*\n- http://x\n- a: b\n","a: !deny","[!deny]"} {
  n,p:=parseDocument([]byte(s)); fmt.Printf("%q %v\n",s,p)
  var d func(n *node,i string); d=func(n *node,i string){ fmt.Printf("%s%v %q @%d:%d\n",i,n.kind,n.text,n.line,n.column); for _,e:=range n.entries{fmt.Printf("%s %q @%d:%d\n",i,e.key,e.line,e.column); d(e.value,i+"   ")}; for _,e:=range n.items{d(e,i+"   ")}}
  if n!=nil{d(n,"")}
 }
}
