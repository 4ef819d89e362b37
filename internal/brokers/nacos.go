package brokers

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// nacosProgram starts a server as Nacos's own distribution does, which Maven Central does not have: first its core, then what answers HTTP.
const nacosProgram = `
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import com.alibaba.nacos.NacosServerBasicApplication;
import com.alibaba.nacos.NacosServerWebApplication;
import com.alibaba.nacos.core.listener.startup.NacosStartUpManager;

public class Nacos {
	public static void main(String[] arguments) {
		NacosStartUpManager.start("core");
		var core = new SpringApplicationBuilder(NacosServerBasicApplication.class).web(WebApplicationType.NONE).run(arguments);
		NacosStartUpManager.start("web");
		new SpringApplicationBuilder(NacosServerWebApplication.class).parent(core).run(arguments);
	}
}
`

func startNacos(s *Server) error {
	first, err := classPath(nacosJarsFirst)
	if err == nil {
		var others string
		others, err = classPath(nacosJars)
		first += string(os.PathListSeparator) + others
	}
	if err != nil {
		return fmt.Errorf("%w: Maven Central cannot be reached: %w", ErrMissing, err)
	}
	program, err := s.write("Nacos.java", nacosProgram)
	if err != nil {
		return err
	}
	settings := fmt.Sprintf("nacos.core.auth.enabled=%t\nnacos.core.auth.admin.enabled=true\nnacos.core.auth.console.enabled=false\nnacos.core.auth.system.type=nacos\n"+
		"nacos.core.auth.server.identity.key=test\nnacos.core.auth.server.identity.value=test\nnacos.core.auth.plugin.nacos.token.secret.key=%s\nserver.address=127.0.0.1\n%s\n",
		s.config.Password != "", base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 40))), s.config.Extra)
	if _, err := s.write("application.properties", settings); err != nil {
		return err
	}
	s.main, err = launch(s.command(s.program, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m", "-Dnacos.standalone=true", "-Dnacos.home="+s.config.Dir,
		fmt.Sprintf("-Dnacos.server.main.port=%d", s.port), "-Dnacos.server.ip=127.0.0.1", "-cp", s.config.Dir+string(os.PathListSeparator)+first, program), s.Log())
	return err
}

func nacosAnswers(s *Server) error {
	if err := s.get("/nacos/v3/admin/core/state/readiness", `"success"`); err != nil || s.config.Password == "" {
		return err
	}
	// The first user is made by this request, of which all but the first are refused, and can log in some seconds later.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	post := func(path string, form url.Values) (int, error) {
		reply, err := client.PostForm("http://"+s.Addr()+path, form)
		if err != nil {
			return 0, err
		}
		return reply.StatusCode, reply.Body.Close()
	}
	if _, err := post("/nacos/v3/auth/user/admin", url.Values{"password": {s.config.Password}}); err != nil {
		return err
	}
	status, err := post("/nacos/v3/auth/user/login", url.Values{"username": {"nacos"}, "password": {s.config.Password}})
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("a login is answered with %d", status)
	}
	return err
}
