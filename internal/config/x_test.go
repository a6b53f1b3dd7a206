package x
import ("testing";"time";"fmt";"strings"
"github.com/goccy/go-yaml/lexer";"github.com/goccy/go-yaml/parser")
func TestX(t *testing.T){
 n:=20000
 for name,s:=range map[string]string{
 "flow": strings.Repeat("[",n), "dash":strings.Repeat("- ",n),"keys":strings.Repeat("a: b\n",n),
 "flowlist":"["+strings.Repeat("a,",n)+"]","longstr":"a: "+strings.Repeat("x",n*10),"dq":"a: \""+strings.Repeat("x",n*10)+"\"",
 "lit":"a: |\n"+strings.Repeat("  xxxxxxx\n",n), "multi":"a: x\n"+strings.Repeat("  xxxxxxx\n",n),"comments":strings.Repeat("# xxx\n",n),"blank":strings.Repeat("\n",n*10),
 "flowmap":"{"+strings.Repeat("a: b,",n)+"}","lst":strings.Repeat("- a\n",n),"docs":strings.Repeat("---\n",n),"tags":strings.Repeat("!a ",n),"anch":strings.Repeat("&a ",n),
 "q":strings.Repeat("? ",n),"quotes":strings.Repeat("\"a\" ",n),"colon":strings.Repeat(": ",n),"spaces":strings.Repeat(" ",n*10),"dqlines":"a: \""+strings.Repeat("x\n ",n)+"\"","alias":"a: &a x\n"+strings.Repeat("b: *a\n",n),
 }{
  t0:=time.Now(); toks:=lexer.Tokenize(s); d1:=time.Since(t0); t0=time.Now()
  _,err:=parser.Parse(toks,0,parser.AllowDuplicateMapKey()); d2:=time.Since(t0)
  e:=""; if err!=nil{e=strings.ReplaceAll(err.Error(),"\n"," "); e=e[:min(len(e),80)]}
  fmt.Printf("%-10s bytes=%d toks=%d lex=%v parse=%v %s\n",name,len(s),len(toks),d1,d2,e)
 }
}
